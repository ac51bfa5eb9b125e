import Foundation
import MartletDatasync
import MartletServer
import Testing

/// What stays of a value when its subscription has ended.
@Suite(.timeLimit(.minutes(1))) struct CompletedSubscriptionTests {
  /// Listens until the value is known, and ends as the test says.
  private func known(
    _ path: String, _ application: MartletApplication, _ policy: DatasyncCompletedSubscriptionPolicy,
    implicitly: Bool = false
  ) async throws {
    var manager: DatasyncManager? = application.datasyncService.createManager(
      defaultCompletedSubscriptionPolicy: policy)
    let transcript = Transcript()
    weak let subscription = try manager?.nodeThrows(for: path).subscribe(to: .valueChange, queue: .main2) { event in
      transcript.add(event.line)
    }
    _ = await transcript.wait(1)
    try await subscription?.ready()
    if !implicitly { subscription?.cancel() }
    manager = nil
  }

  /// What is read without the server; nil when nothing is known.
  private func cached(_ path: String, _ application: MartletApplication) async throws -> DatasyncReading? {
    try? await application.datasyncService.createManager().nodeThrows(for: path).cachedValue()
  }

  @Test func `a policy says what is known of a cancelled subscription's node`() async throws {
    try await TreeServing.with { server in
      let writer = TreeServing.application(server).datasyncService.createManager()
      let application = TreeServing.application(server)
      for name in ["forget", "keep", "update", "implicit", "explicit"] {
        try await writer.nodeThrows(for: "/open/\(name)").set("before").acknowledged()
      }
      try await known("/open/forget", application, .forgetData)
      try await known("/open/keep", application, .keepData)
      try await known("/open/update", application, .keepUpdatingData)
      try await known("/open/implicit", application, .keepUpdatingDataWhenImplicit, implicitly: true)
      try await known("/open/explicit", application, .keepUpdatingDataWhenImplicit)
      for name in ["forget", "keep", "update", "implicit", "explicit"] {
        try await writer.nodeThrows(for: "/open/\(name)").set("after").acknowledged()
      }
      // Answered behind the pushes of silent listeners.
      _ = try await application.datasyncService.createManager().nodeThrows(for: "/open/other").value()
      #expect(try await cached("/open/forget", application) == nil)
      #expect(try await cached("/open/keep", application)?.value.asString == "before")
      #expect(try await cached("/open/explicit", application)?.value.asString == "before")
      for name in ["update", "implicit"] {
        let reading = try await cached("/open/\(name)", application)
        #expect(reading?.value.asString == "after", "\(name)")
        #expect(reading?.age == .zero)
      }
      application.datasyncService.cleanCache()
      for name in ["keep", "explicit", "update", "implicit"] {
        #expect(try await cached("/open/\(name)", application) == nil, "\(name)")
      }
    }
  }

  @Test func `a subscription's own policy counts, until it has ended`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let manager = application.datasyncService.createManager(defaultCompletedSubscriptionPolicy: .forgetData)
      #expect(manager.defaultCompletedSubscriptionPolicy == .forgetData)
      try await manager.nodeThrows(for: "/open/a").set(1).acknowledged()
      let events = try manager.nodeThrows(for: "/open/a").events(.valueChange)
      #expect(events.subscription.completedSubscriptionPolicy == .forgetData)
      events.subscription.completedSubscriptionPolicy = .keepData
      try await events.ready()
      events.cancel()
      events.subscription.completedSubscriptionPolicy = .forgetData
      #expect(events.subscription.completedSubscriptionPolicy == .keepData)
      #expect(try await cached("/open/a", application)?.value.asInt == 1)
    }
  }

  @Test func `rules that are withdrawn forget the value and what is below it, whatever the policy`() async throws {
    let open = #"{"rules": {"a": {".read": true, ".write": true}, "b": {".read": true, ".write": true}}}"#
    try await TreeServing.with(rules: open) { server in
      let application = TreeServing.application(server)
      let manager = application.datasyncService.createManager()
      try await manager.nodeThrows(for: "/a").set(["x": 1]).acknowledged()
      try await manager.nodeThrows(for: "/b").set(2).acknowledged()
      try await known("/a/x", application, .keepData)
      try await known("/b", application, .keepData)
      let events = try manager.nodeThrows(for: "/a").events(.valueChange)
      events.subscription.completedSubscriptionPolicy = .keepUpdatingData
      try await events.ready()
      try await server.reload(treeRules: #"{"rules": {"b": {".read": true}}}"#)
      await #expect(throws: DatasyncError.self) { for try await _ in events {} }
      #expect(try await cached("/a", application) == nil)
      #expect(try await cached("/a/x", application) == nil)
      #expect(try await cached("/b", application)?.value.asInt == 2)
    }
  }

  @Test(arguments: [false, true])
  func `a refused listener or read forgets what was kept of the nodes above, of which the node is a part`(
    isRead: Bool
  ) async throws {
    let open = #"{"rules": {"a": {".read": true, ".write": true}, "b": {".read": true, ".write": true}}}"#
    try await TreeServing.with(rules: open) { server in
      let application = TreeServing.application(server)
      let manager = application.datasyncService.createManager()
      try await manager.nodeThrows(for: "/a").set(["x": ["y": 1]]).acknowledged()
      try await manager.nodeThrows(for: "/b").set(2).acknowledged()
      try await known("/a", application, .keepData)
      try await known("/b", application, .keepData)
      #expect(try await cached("/a", application)?.value.json == ["x": ["y": 1]])
      #expect(try await cached("/a/x/y", application)?.value.asInt == 1)
      try await server.reload(treeRules: #"{"rules": {"b": {".read": true}}}"#)
      let node = try manager.nodeThrows(for: "/a/x")
      if isRead {
        await #expect(throws: DatasyncError.self) { try await node.value() }
      } else {
        let events = try node.events(.valueChange)
        await #expect(throws: DatasyncError.self) { for try await _ in events {} }
      }
      #expect(try await cached("/a", application) == nil)
      #expect(try await cached("/a/x/y", application) == nil)
      #expect(try await cached("/b", application)?.value.asInt == 2)
    }
  }

  @Test func `a node that is kept synced is up to date without a subscription, until it is let go`() async throws {
    try await TreeServing.with { server in
      let writer = TreeServing.application(server).datasyncService.createManager()
      let application = TreeServing.application(server)
      let manager = application.datasyncService.createManager()
      let node = try manager.nodeThrows(for: "/open/a")
      try node.keepSynced()
      // The listen stands before the read in the server's order.
      #expect(try await node.value().value.isNull)
      try await writer.nodeThrows(for: "/open/a").set("new").acknowledged()
      _ = try await manager.nodeThrows(for: "/open/other").value()
      let live = try await node.cachedValue()
      #expect(live.value.asString == "new")
      #expect(live.age == .zero)
      try node.keepSynced(false)
      try await writer.nodeThrows(for: "/open/a").set("newer").acknowledged()
      _ = try await manager.nodeThrows(for: "/open/other").value()
      #expect(try await node.cachedValue().value.asString == "new")
      #expect(try await node.cachedValue().age != nil)
    }
  }

  @Test func `values beyond the quota are evicted, those used longest ago first and never those in use`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await TreeServing.with { server in
      let application = TreeServing.application(server) {
        $0.cacheMode = .automatic(file: folder + "/cache")
        $0.cacheBytes = 2_500
      }
      let manager = application.datasyncService.createManager()
      let text = String(repeating: "x", count: 1_000)
      for name in ["synced", "a", "b", "c"] {
        try await manager.nodeThrows(for: "/open/\(name)").set(text + name).acknowledged()
      }
      let synced = try manager.nodeThrows(for: "/open/synced")
      try synced.keepSynced()
      _ = try await synced.value()
      for name in ["a", "b", "c"] {
        try await known("/open/\(name)", application, .keepData)
        application.datasyncService.saveCache()
      }
      application.datasyncService.isConnectionEnabled = false
      #expect(try await cached("/open/a", application) == nil)
      #expect(try await cached("/open/b", application) == nil)
      #expect(try await cached("/open/c", application)?.value.asString == text + "c")
      #expect(try await cached("/open/synced", application)?.value.asString == text + "synced")
      application.datasyncService.shutDown()
    }
  }
}

extension DispatchQueue {
  /// A queue of the tests' own.
  fileprivate static let main2 = DispatchQueue(label: "completed subscriptions")
}
