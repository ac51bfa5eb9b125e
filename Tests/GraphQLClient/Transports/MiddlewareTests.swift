import Foundation
import Martlet
import MartletTesting
import Synchronization
import Testing

/// Writes down what it sees of subscriptions.
private final class Journal: Interceptor {
  private let name: String
  private let lines: Lines

  final class Lines: Sendable {
    private let held = Mutex<[String]>([])
    var all: [String] { held.withLock { $0 } }
    func add(_ line: String) { held.withLock { $0.append(line) } }
  }

  init(_ name: String, _ lines: Lines) {
    self.name = name
    self.lines = lines
  }

  func subscribe(_ request: OperationRequest) throws -> OperationRequest {
    lines.add("\(name) subscribe")
    var request = request
    request.variables[name] = true
    return request
  }

  func received(_ news: SubscriptionNews, of request: OperationRequest) {
    switch news {
    case .state(let state): lines.add("\(name) \(state)")
    case .event(let payload, let cursor):
      let tick = (try? payload.value)?["data"]?["tick"] ?? .null
      lines.add("\(name) \(tick)\(cursor.map { " at \($0)" } ?? "") of \(request.variables)")
    case .gap(let gap): lines.add("\(name) gap \(gap.reason.rawValue)")
    }
  }
}

/// One chain before any transport: it sees subscriptions over a WebSocket as well.
@Suite struct MiddlewareTests {
  private let time = VirtualTime()

  private func client(
    _ server: ScriptedServer, _ interceptors: [any Interceptor],
    _ change: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = WebSocketTransport.configuration
    change(&configuration)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let socket = try WebSocketTransport(url: url, configuration: configuration, environment: server.environment)
    return GraphQLClient(
      networkTransport: InterceptedTransport(
        socket, provider: DefaultInterceptorProvider(interceptors: interceptors)))
  }

  @Test func `a chain sees a subscription's events, gap, states and end, the innermost first`() throws {
    let server = ScriptedServer(time)
    let lines = Journal.Lines()
    let client = try client(server, [Journal("a", lines), Journal("b", lines)])
    try time.run {
      let stream = client.subscribe("subscription { tick }")
      let first = try await server.accept()
      let id = try await first.expect("subscribe")["id"]?.string ?? ""
      first.next(id, data: ["tick": 1])
      first.cut()
      let second = try await server.accept()
      try await second.expect("subscribe")
      second.complete(id)
      for try await _ in stream {}
    }
    let seen = [
      "active", "1 of {\"a\":true,\"b\":true}", "reconnecting", "gap serverCannotResume", "active",
      "finished(completed)",
    ]
    let passed = seen.flatMap { (line: String) -> [String] in ["b " + line, "a " + line] }
    #expect(lines.all == ["a subscribe", "b subscribe"] + passed)
  }

  @Test func `many failed attempts are one change of state, to a chain and to observers of the state`() throws {
    let server = ScriptedServer(time)
    let lines = Journal.Lines()
    let client = try client(server, [Journal("a", lines)])
    let states = try time.run {
      let stream = client.subscribe("subscription { tick }")
      try await stream.ready()
      let changes = stream.states
      async let states = changes.reduce(into: [String]()) { $0.append("\($1)") }
      server.door = .refuses(status: 503)
      server.socket?.cut()
      await self.time.sleep(for: .seconds(20))
      #expect(server.attempts.count > 4)
      server.door = .open
      try await stream.ready()
      stream.cancel()
      return await states
    }
    #expect(states == ["active", "reconnecting", "active", "finished(cancelled)"])
    #expect(
      lines.all == ["a subscribe", "a active", "a reconnecting", "a gap serverCannotResume", "a active"]
        + ["a finished(cancelled)"])
  }

  @Test func `the end is the last news, also when the consumer leaves or it cannot be started`() throws {
    let server = ScriptedServer(time)
    let lines = Journal.Lines()
    let client = try client(server, [Journal("a", lines)]) { $0.buffer = BufferPolicy(.fail, events: 1) }
    try time.run {
      var dropped: SubscriptionStream<GraphQLResponse<JSONValue>>? = client.subscribe("subscription { tick }")
      try await dropped?.ready()
      dropped = nil
      let slow = client.subscribe("subscription { tick }")
      let socket = try await server.accept()
      try await socket.expect("subscribe")
      try await socket.expect("complete")
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      for tick in 1...5 { socket.next(id, data: ["tick": .int(Int64(tick))]) }
      await self.time.sleep(for: .seconds(1))
      #expect(slow.state.isFinished)
      client.shutDown()
      await self.time.sleep(for: .seconds(1))
      #expect(client.subscribe("subscription { tick }").state.isFinished == false)
      await self.time.sleep(for: .seconds(1))
    }
    let ends = lines.all.filter { $0.contains("finished") }
    #expect(ends.count == 3)
    #expect(ends[0] == "a finished(cancelled)")
    #expect(ends[1].hasPrefix("a finished(error: slowConsumer"))
    #expect(ends[2].hasPrefix("a finished("))
    // Behind an end only another subscription's beginning.
    for (line, next) in zip(lines.all, lines.all.dropFirst()) where line.contains("finished") {
      #expect(next == "a subscribe")
    }
  }

  @Test func `an interceptor that throws keeps a subscription from starting, and says why`() throws {
    struct Closed: Error {}
    struct Gate: Interceptor {
      func subscribe(_ request: OperationRequest) throws -> OperationRequest { throw Closed() }
    }
    let server = ScriptedServer(time)
    let client = try client(server, [Gate()])
    let stream = client.subscribe("subscription { tick }")
    #expect(throws: Closed.self) { try time.run { try await stream.ready() } }
    #expect(server.attempts.isEmpty)
  }

  @Test func `what an interceptor sees prints as what it is`() {
    let cursor = Cursor(term: 10, offset: 7)
    #expect("\(OperationPayload(["data": ["tick": 1]]))" == "{\"data\":{\"tick\":1}}")
    #expect("\(["a": 1] as JSONObject)" == "{\"a\":1}")
    #expect("\(EventGap(.slowConsumer, dropped: 3))" == "gap(slowConsumer, 3 dropped)")
    #expect("\(EventGap(.retention, from: cursor))" == "gap(retention from \(cursor) to ?)")
  }

  @Test func `an observer counts events over a WebSocket`() throws {
    let server = ScriptedServer(time)
    let events = Mutex(0)
    let client = try client(
      server,
      [
        ObservingInterceptor { event in
          if case .subscription(_, .event) = event { events.withLock { $0 += 1 } }
        }
      ])
    try time.run {
      let stream = client.subscribe("subscription { tick }")
      let socket = try await server.accept()
      let id = try await socket.expect("subscribe")["id"]?.string ?? ""
      for tick in 1...3 { socket.next(id, data: ["tick": .int(Int64(tick))], cursor: nil) }
      socket.complete(id)
      for try await _ in stream {}
    }
    #expect(events.withLock { $0 } == 3)
  }

  @Test func `what kept a connection from coming about is in the error, with status or cause`() throws {
    struct NoSession: Error {}
    let server = ScriptedServer(time)
    server.door = .refuses(status: 503)
    var policy = ReconnectPolicy()
    policy.attempts = 1
    let refused = try client(server, []) { $0.reconnect = policy }
    let locked = try client(server, []) {
      $0.reconnect = policy
      $0.credentials = { _ in throw NoSession() }
    }
    for client in [refused, locked] {
      let stream = client.subscribe("subscription { tick }")
      do {
        try time.run { try await stream.ready() }
        Issue.record("it is active")
      } catch let error as GraphQLClientError {
        #expect(error.code == .connectFailed)
        #expect(error.status == (client === refused ? 503 : nil))
        #expect((error.underlying is NoSession) == (client === locked))
      }
    }
  }
}
