import Foundation
import Martlet
import MartletDatasync
import MartletGraphQLClient
import MartletRuntime
import MartletServer
import MartletWire
import Testing

/// What is sent when a client comes back.
@Suite struct ResumeTests {
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

  @Test func `a listener that comes back to a large node is sent the leaf that was written since`() async throws {
    try await TreeServing.with { server in
      let writer = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/big")
      let text = String(repeating: "x", count: 100)
      try await writer.set(Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("k\($0)", text) })).acknowledged()
      let (application, counting) = try counted(server)
      let manager = application.datasyncService.createManager()
      let big = try manager.nodeThrows(for: "/open/big")
      let events = try big.events(.child(change: true, removal: true))
      let window = try big.events(.children, window: .last(2))
      var (iterator, windowIterator) = (events.makeAsyncIterator(), window.makeAsyncIterator())
      try await events.ready()
      try await window.ready()
      #expect(counting.received > 200_000)
      application.datasyncService.isConnectionEnabled = false
      await reached(.disabled, application)
      try await writer.merge(["k7": "new", "k8": nil as String?]).acknowledged()
      counting.reset()
      application.datasyncService.isConnectionEnabled = true
      #expect(try await iterator.next()?.line == "removed k8 \"\(text)\"")
      #expect(try await iterator.next()?.line == "changed k7 \"new\" after k699")
      // Greeting, value and answer.
      #expect(counting.received < 512)
      #expect(try await windowIterator.next()?.key == "k998")
    }
  }

  @Test func `a window that comes back is sent what entered, what left and what was written`() async throws {
    try await TreeServing.with { server in
      let list = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/list")
      try await list.set(["a": 1, "b": 2, "c": 3, "d": 4]).acknowledged()
      let (application, _) = try counted(server)
      let manager = application.datasyncService.createManager()
      let events = try manager.nodeThrows(for: "/open/list").events(.children, window: .last(3))
      var iterator = events.makeAsyncIterator()
      var lines: [String] = []
      for _ in 0..<3 { lines.append(try await iterator.next()?.line ?? "") }
      #expect(lines == ["added b 2", "added c 3 after b", "added d 4 after c"])
      try await events.ready()
      application.datasyncService.isConnectionEnabled = false
      await reached(.disabled, application)
      try await list.merge(["d": nil, "c": 30] as [String: Int?]).acknowledged()
      application.datasyncService.isConnectionEnabled = true
      lines = []
      for _ in 0..<3 { lines.append(try await iterator.next()?.line ?? "") }
      #expect(lines == ["removed d 4", "added a 1", "changed c 30 after b"])
    }
  }

  @Test func `writes and listeners survive a restart of the server, each write once`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var port = 0
    let held = Held()
    try await TreeServing.with({ $0.data = .folder(folder) }) { server in
      port = server.port
      let application = TreeServing.application(server)
      let manager = application.datasyncService.createManager()
      let counter = try manager.nodeThrows(for: "/open/counter")
      try await counter.increment(1)
      for _ in 0..<50 { held.writes.append(try counter.set(DatasyncServerValue.increment(1))) }
      (held.application, held.manager) = (application, manager)
    }
    let manager = try #require(held.manager)
    for _ in 0..<50 {
      held.writes.append(try manager.nodeThrows(for: "/open/counter").set(DatasyncServerValue.increment(1)))
    }
    try await TreeServing.with({
      $0.data = .folder(folder)
      $0.port = port
    }) { server in
      for write in held.writes { try await write.acknowledged() }
      #expect(try await manager.nodeThrows(for: "/open/counter").value(as: Int.self) == 101)
      held.application?.datasyncService.shutDown()
    }
  }

  /// What outlives the first server; used by one test at a time.
  private final class Held: @unchecked Sendable {
    var application: MartletApplication?
    var manager: DatasyncManager?
    var writes: [DatasyncWrite] = []
  }
}

/// Opens real WebSockets and counts the bytes of the messages that arrive.
final class CountingSockets: MessageSocketConnector {
  private let real: any MessageSocketConnector
  private let count = Lock(0)

  init(_ real: any MessageSocketConnector) { self.real = real }

  var received: Int { count.withLock { $0 } }
  func reset() { count.withLock { $0 = 0 } }
  fileprivate func add(_ bytes: Int) { count.withLock { $0 += bytes } }

  func open(
    _ request: MessageSocketRequest, on loop: any Loop, handler: any MessageSocketHandler,
    completion: @escaping (Result<Opened, MessageSocketFailure>) -> Void
  ) -> ConnectAttempt {
    real.open(request, on: loop, handler: Counter(handler, self), completion: completion)
  }

  private final class Counter: MessageSocketHandler {
    private let handler: any MessageSocketHandler
    private let owner: CountingSockets
    init(_ handler: any MessageSocketHandler, _ owner: CountingSockets) {
      (self.handler, self.owner) = (handler, owner)
    }
    func received(text: [UInt8]) {
      owner.add(text.count)
      handler.received(text: text)
    }
    func receivedBinary() { handler.receivedBinary() }
    func closed(code: WebSocketCloseCode, reason: String) { handler.closed(code: code, reason: reason) }
  }
}
