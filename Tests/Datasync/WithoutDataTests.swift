import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletServer
import Testing

/// Subscriptions without data: the server sends no values for them, and their events are those of subscriptions with
/// data.
@Suite(.timeLimit(.minutes(1))) struct WithoutDataTests {
  private static let signals = DatasyncEventType.value(
    change: true, withoutData: true, acknowledgement: true, rejection: true, gap: true)
  private static let values = DatasyncEventType.value(change: true, acknowledgement: true, rejection: true, gap: true)

  /// An application whose received bytes are counted.
  private func counted(_ server: GraphQLServer) throws -> (MartletApplication, CountingSockets) {
    var environment = try ClientEnvironment.shared()
    let counting = CountingSockets(try #require(environment.sockets))
    environment.sockets = counting
    var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)")
    configuration.connection.reconnect.firstDelay = .milliseconds(20)
    return (MartletApplication(configuration: configuration, environment: environment), counting)
  }

  private func reached(_ state: DatasyncState, _ application: MartletApplication) async {
    for await other in application.datasyncService.states where other == state { return }
  }

  private func writer(_ server: GraphQLServer, _ path: String) throws -> DatasyncNode {
    try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: path)
  }

  @Test func `the values of a node of a megabyte are sent only while a subscription with data runs`() async throws {
    try await TreeServing.with { server in
      let big = try writer(server, "/open/big")
      let text = String(repeating: "x", count: 1_000)
      try await big.set(Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("k\($0)", text) })).acknowledged()
      let (application, counting) = try counted(server)
      let manager = application.datasyncService.createManager()
      let node = try manager.nodeThrows(for: "/open/big")
      let signals = try node.events(.value(change: true, withoutData: true))
      var iterator = signals.makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(first.isAcknowledged)
      #expect(throws: DatasyncError.self) { try first.data() }
      try await signals.ready()
      try await (big / "k7")?.set(text + "y").acknowledged()
      _ = try await iterator.next()
      #expect(counting.received < 1_024, "greeting, first event and a change of one leaf")

      let values = try manager.nodeThrows(for: "/open").events(.valueChange)
      var other = values.makeAsyncIterator()
      #expect(try await other.next()?.value["big"]["k7"].asString == text + "y")
      try await values.ready()
      #expect(counting.received > 1_000_000)
      values.cancel()
      // Answered after the server has ended the listener with data.
      _ = try await manager.nodeThrows(for: "/open/none").value()
      counting.reset()
      try await (big / "k8")?.set(text + "z").acknowledged()
      _ = try await iterator.next()
      #expect(counting.received < 512, "a change of one leaf")
      application.datasyncService.shutDown()
    }
  }

  @Test func `events are those of a subscription with data, for own and other writes, refusals and the revocation`()
    async throws
  {
    try await TreeServing.with { server in
      let (own, others) = (TreeServing.application(server), try writer(server, "/open"))
      let node = try own.datasyncService.createManager().nodeThrows(for: "/open")
      let transcripts = [Self.values, Self.signals].map { type in
        let transcript = Transcript()
        node.subscribe(to: type) { event in
          let kind =
            switch event.eventType {
            case .value(change: true, _, _, _, _): "changed"
            case .valueAcknowledgement: "acknowledged"
            case .valueRejection: "rejected \(event.rejection?.reason ?? "")"
            default: "\(event.eventType)"
            }
          transcript.add(kind + (event.isAcknowledged ? "" : " pending"))
        } onCompletion: { completion in
          if case .revocation(let reason) = completion { transcript.add("revoked: \(reason.kind)") }
        }
        return transcript
      }
      func reported(_ count: Int) async { for transcript in transcripts { _ = await transcript.wait(count) } }
      await reported(1)
      try await node.set(["a": 1]).acknowledged()
      await reported(3)
      try await others.merge(["b": 2]).acknowledged()
      await reported(4)
      try await node.merge(["a": 5, "c": 6]).acknowledged()
      await reported(6)
      await #expect(throws: DatasyncError.self) { try await (node / "number")?.set("text").acknowledged() }
      await reported(9)
      try await (node / "a")?.clear().acknowledged()
      await reported(11)
      try await others.set(["z": 1]).acknowledged()
      await reported(12)
      try await server.reload(treeRules: #"{"rules": {}}"#)
      await reported(13)
      #expect(transcripts[1].all == transcripts[0].all)
      #expect(transcripts[1].all.first == "changed")
      #expect(transcripts[1].all.last == "revoked: rules")
      #expect(transcripts[1].all.filter { $0 == "acknowledged" }.count == 3)
      own.datasyncService.shutDown()
    }
  }

  @Test func `a subscription that comes back gets an event only when something has changed, and a gap`() async throws {
    try await TreeServing.with({ $0.limits.tree.resumeChanges = 2 }) { server in
      let (node, other) = (try writer(server, "/open/a"), try writer(server, "/open/b"))
      let application = TreeServing.application(server)
      let events = try application.datasyncService.createManager().nodeThrows(for: "/open/a").events(Self.signals)
      var iterator = events.makeAsyncIterator()
      var kinds: [DatasyncEventType?] = [try await iterator.next()?.eventType]
      try await events.ready()
      func away(_ body: () async throws -> Void) async throws {
        application.datasyncService.isConnectionEnabled = false
        await reached(.disabled, application)
        try await body()
        application.datasyncService.isConnectionEnabled = true
        await reached(.connected, application)
        // Answered after the watch.
        _ = try await application.datasyncService.createManager().nodeThrows(for: "/open/b").value()
      }
      try await away { try await other.set(1).acknowledged() }
      try await away { try await node.set(1).acknowledged() }
      kinds.append(try await iterator.next()?.eventType)
      try await away { for number in 0..<5 { try await (node / "k")?.set(number).acknowledged() } }
      for _ in 0..<2 { kinds.append(try await iterator.next()?.eventType) }
      let change = DatasyncEventType.value(change: true, withoutData: true)
      #expect(kinds == [change, change, .valueGap, change])
      try await server.reload(treeRules: #"{"rules": {}}"#)
      // Nothing else followed.
      await #expect(throws: DatasyncError.self) { try await iterator.next() }
      application.datasyncService.shutDown()
    }
  }

  @Test func `a node that is too large to be sent can be followed without data, and one that is secret cannot`()
    async throws
  {
    try await TreeServing.with({ $0.limits.tree.nodeLeaves = 10 }) { server in
      let node = try writer(server, "/open/large")
      for number in 0..<20 { try await (node / "k\(number)")?.set(number).acknowledged() }
      let application = TreeServing.application(server)
      let manager = application.datasyncService.createManager()
      let events = try manager.nodeThrows(for: "/open/large").events(Self.signals)
      var iterator = events.makeAsyncIterator()
      _ = try await iterator.next()
      try await events.ready()
      for number in 0..<20 { try await (node / "k\(number)")?.set(-number - 1).acknowledged() }
      for _ in 0..<20 { #expect(try await iterator.next()?.isAcknowledged == true) }
      let secret = try manager.nodeThrows(for: "/private").events(Self.signals)
      let error = await #expect(throws: DatasyncError.self) { for try await _ in secret {} }
      #expect(error?.code == .denied)
      application.datasyncService.shutDown()
    }
  }

  @Test func `a window without data gets the changes inside it`() async throws {
    try await TreeServing.with { server in
      let list = try writer(server, "/open/list")
      try await list.set(["a": 1, "b": 2]).acknowledged()
      let application = TreeServing.application(server)
      let events = try application.datasyncService.createManager().nodeThrows(for: "/open/list")
        .events(.value(change: true, withoutData: true), window: .last(1))
      var iterator = events.makeAsyncIterator()
      _ = try await iterator.next()
      try await events.ready()
      try await (list / "a")?.set(3).acknowledged()
      try await (list / "b")?.set(4).acknowledged()
      _ = try await iterator.next()
      try await server.reload(treeRules: #"{"rules": {}}"#)
      await #expect(throws: DatasyncError.self) { try await iterator.next() }
      application.datasyncService.shutDown()
    }
  }
}
