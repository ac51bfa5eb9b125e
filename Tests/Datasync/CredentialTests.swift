import Foundation
import MartletDatasync
import MartletServer
import Testing

/// The client's credential, from its first use to its withdrawal.
@Suite(.timeLimit(.minutes(1))) struct CredentialTests {
  /// Keys named `ada`: the SHA-256 of the texts "ada" and "ada2".
  private static let first = "fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029"
  private static let second = "4e09b8302d2364cde17b3e5d36c5f600c37389f62ce96adf45d6ea0a11f6a994"

  private static func access(_ digest: String) throws -> AccessFile {
    try AccessFile(#"{"keys":[{"name":"ada","sha256":"\#(digest)"}],"origins":null}"#)
  }

  @Test func `a credential opens what rules give its caller, and another is asked for when it is withdrawn`()
    async throws
  {
    try await TreeServing.with({ $0.access = .keys(try Self.access(Self.first)) }) { server in
      let asked = Transcript()
      let application = TreeServing.application(server) { configuration in
        configuration.connection.credentials = { reason in
          asked.add("\(reason)")
          return .bearer(reason.isRefusal ? "ada2" : "ada")
        }
      }
      let manager = application.datasyncService.createManager()
      let node = try manager.nodeThrows(for: "/private/x")
      try await node.set(1).acknowledged()
      #expect(asked.all == ["connecting(attempt: 1)"])
      let guest = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/private/x")
      let error = await #expect(throws: DatasyncError.self) { try await guest.value() }
      #expect(error?.code == .denied)
      try server.reload(access: try Self.access(Self.second))
      _ = await asked.wait(2)
      #expect(asked.all.last == "refused(code: 401)")
      try await node.set(2).acknowledged()
      #expect(try await node.value(as: Int.self) == 2)
    }
  }

  @Test func `a credential is renewed before it ends, and its connection and subscription continue`() async throws {
    let rules = """
      {"rules": {
        ".read": "auth != null", "mine": {".write": "auth.uid == 'ada2'"}, "its": {".write": "auth.uid == 'ada'"}
      }}
      """
    let keys = [("ada", Self.first), ("ada2", Self.second)].map { #"{"name":"\#($0)","sha256":"\#($1)"}"# }
    let access = try AccessFile(#"{"keys":[\#(keys.joined(separator: ","))]}"#)
    try await TreeServing.with(rules: rules, { $0.access = .keys(access) }) { server in
      let asked = Transcript()
      let application = TreeServing.application(server) { configuration in
        configuration.connection.credentials = { reason in
          asked.add("\(reason)")
          var credentials = Credentials.bearer(asked.all.count == 1 ? "ada" : "ada2")
          credentials.expiresIn = asked.all.count == 1 ? .milliseconds(300) : .seconds(3_600)
          return credentials
        }
      }
      let manager = application.datasyncService.createManager()
      let node = try manager.nodeThrows(for: "/")
      let (events, ended) = (Transcript(), Transcript())
      node.subscribe(to: .valueChange, onEvent: { events.add($0.line) }, onCompletion: { ended.add("\($0)") })
      try await manager.nodeThrows(for: "/its").set(1).acknowledged()
      _ = await asked.wait(2)
      // The new one is another caller's here, so that its arrival shows.
      let mine = try manager.nodeThrows(for: "/mine")
      for _ in 0..<200 {
        if (try? await mine.set(2).acknowledged()) != nil { break }
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(try await mine.value(as: Int.self) == 2)
      #expect(asked.all == ["connecting(attempt: 1)", "expiring"])
      #expect(ended.all == [])
      #expect(events.all.last?.contains("mine") == true)
    }
  }

  @Test func `P10: a credential that is withdrawn leaves no value, neither at once nor at a start without a server`()
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let mode = DatasyncCacheMode.automatic(file: folder + "/cache")
    func forgotten(_ manager: DatasyncManager) async throws {
      for path in ["/private/x", "/private/kept"] {
        let error = await #expect(throws: DatasyncError.self) { try await manager.nodeThrows(for: path).cachedValue() }
        #expect(error?.code == .unknownValue, "\(path)")
      }
    }
    try await TreeServing.with({ $0.access = .keys(try Self.access(Self.first)) }) { server in
      let application = TreeServing.application(server) { configuration in
        configuration.cacheMode = mode
        configuration.connection.credentials = { _ in .bearer("ada") }
      }
      let manager = application.datasyncService.createManager()
      let (node, kept) = (try manager.nodeThrows(for: "/private/x"), try manager.nodeThrows(for: "/private/kept"))
      try await node.set("secret").acknowledged()
      try await kept.set("secret").acknowledged()
      let subscription = kept.subscribe(to: .valueChange, onEvent: { _ in })
      subscription.completedSubscriptionPolicy = .keepData
      try await subscription.ready()
      subscription.cancel()
      var iterator = try node.events(.valueChange).makeAsyncIterator()
      #expect(try await iterator.next()?.value.asString == "secret")
      #expect(try await node.cachedValue().value.asString == "secret")
      #expect(try await kept.cachedValue().value.asString == "secret")
      try server.reload(access: try Self.access(Self.second))
      await #expect(throws: DatasyncError.self) { while try await iterator.next() != nil {} }
      try await forgotten(manager)
      application.datasyncService.shutDown()
      _ = try? await application.datasyncService.queuedWrites()
      var unreachable = DatasyncConfiguration(url: "ws://127.0.0.1:1")
      (unreachable.cacheMode, unreachable.readTimeout) = (mode, .milliseconds(1))
      let second = MartletApplication(configuration: unreachable)
      try await forgotten(second.datasyncService.createManager())
      second.datasyncService.shutDown()
    }
  }

  @Test func `a credential that is refused twice ends the attempts and the subscriptions`() async throws {
    try await TreeServing.with({ $0.access = .keys(try Self.access(Self.first)) }) { server in
      let application = TreeServing.application(server) { configuration in
        configuration.connection.credentials = { _ in .bearer("wrong") }
      }
      let node = try application.datasyncService.createManager().nodeThrows(for: "/open")
      let error = await #expect(throws: DatasyncError.self) { for try await _ in try node.events(.valueChange) {} }
      #expect(error?.code == .revoked)
      guard case .failed = application.datasyncService.state else {
        Issue.record("the service is \(application.datasyncService.state)")
        return
      }
    }
  }
}
