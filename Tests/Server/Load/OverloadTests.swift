import MartletJSON
import MartletLoop
import MartletModels
import MartletServer
import MartletSockets
import MartletStore
import Synchronization
import Testing

/// More than the server can do: what is accepted is bounded, the rest is refused by type, others are served.
@Suite(.serialized, .timeLimit(.minutes(1))) struct OverloadTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  @Test func `writes beyond the writer's queue are refused as OVERLOADED, and all accepted ones happen`() async throws {
    let server = try CountedServer(schema: Self.schema) { $0.limits.store.queuedWrites = 50 }
    let sockets = try await [RawSocket.session(port: server.port), RawSocket.session(port: server.port)]
    // The writer stands still, which is less than half of what is offered.
    server.writer.hold()
    for (index, socket) in sockets.enumerated() {
      socket.send(
        (0..<60).map { number in
          #"{"id":"\#(number)","type":"subscribe","payload":{"query":"mutation { createNote(input: {id: "#
            + #"\"\#(index)-\#(number)\"}) { id } }"}}"#
        })
    }
    while await server.counts()[.operations] < 120 {}
    // Writes reach the store when the turn that read them ends; another turn has begun when this returns.
    _ = await server.counts()
    server.writer.release()
    var accepted = 0
    var refused = 0
    for socket in sockets {
      for _ in 0..<60 {
        let answer = try await socket.message("next")
        if answer["payload"]?["data"]?["createNote"]?["id"] != nil {
          accepted += 1
        } else {
          #expect(answer["payload"]?["errors"]?[0]?["extensions"]?["code"] == "OVERLOADED")
          refused += 1
        }
      }
    }
    #expect(accepted == 50 && refused == 70)
    #expect(server.node.store.position.head == 52)
    #expect(await server.counts()[.writesRefused] == 70)
    for socket in sockets { socket.abort() }
    await server.stop()
  }

  @Test func `a loop that is too far behind refuses requests unread, and keeps its sockets`() async throws {
    // Behind by more than less than nothing: always.
    let server = try CountedServer(schema: Self.schema) { $0.limits.http.loopLag = .seconds(-1) }
    let socket = try await RawSocket.session(port: server.port)
    socket.subscribe("1", "subscription { onCreateNote { id } }")
    _ = try await socket.message("ready")
    for target in ["/graphql", "/graphql/stream"] {
      let answer = try await HTTPRequest.send(
        "POST", target, port: server.port, headers: [("Content-Type", "application/json")],
        body: #"{"query":"mutation { createNote(input: {id: \"n\"}) { id } }"}"#)
      #expect(answer.status == 503)
      #expect(answer.head.contains("Retry-After: 1"))
      #expect(answer.json["errors"]?[0]?["extensions"]?["code"] == "OVERLOADED")
    }
    #expect(try await HTTPRequest.send("GET", "/healthz", port: server.port).status == 200)
    socket.send([
      #"{"id":"2","type":"subscribe","payload":{"query":"mutation { createNote(input: {id: \"m\"}) { id } }"}}"#
    ])
    var ids: Set<JSONValue?> = []
    for _ in 0..<2 { ids.insert(try await socket.message("next")["id"]) }
    #expect(ids == ["1", "2"])
    let counts = await server.counts()
    #expect(counts[.requestsShed] == 2)
    #expect(counts[.requestsRefused] == 2)
    #expect(server.node.store.position.head == 3)
    socket.abort()
    await server.stop()
  }

  @Test func `a large group is served in slices, and others in between`() async throws {
    let server = try CountedServer(schema: Self.schema) {
      $0.limits.session.operationsPerConnection = 1_000
      $0.limits.session.deliveriesPerTurn = 100
    }
    let crowd = try await RawSocket.session(port: server.port)
    let query = "subscription { onCreateNote { id } }"
    var crowds: [RawSocket] = [crowd]
    for _ in 1..<10 { crowds.append(try await RawSocket.session(port: server.port)) }
    for socket in crowds {
      for number in 0..<100 { socket.subscribe("\(number)", query) }
      for _ in 0..<100 { _ = try await socket.message("ready") }
    }
    let before = await server.counts()
    let made = try await HTTPRequest.graphql(#"mutation { createNote(input: {id: "n"}) { id } }"#, port: server.port)
    #expect(made.json["errors"] == nil)
    // Asked for after the commit, answered long before the crowd has been served.
    let asked = try await HTTPRequest.send("GET", "/healthz", port: server.port)
    #expect(asked.status == 200)
    for socket in crowds { for _ in 0..<100 { _ = try await socket.message("next") } }
    let counts = await server.counts() - before
    #expect(counts[.deliveries] == 1_000)
    #expect(counts[.payloadEncodings] == 1)
    #expect(counts.loop.turns >= 10)
    for socket in crowds { socket.abort() }
    await server.stop()
  }

  @Test func `a slow resolver delays no other client`() async throws {
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let shared = SharedGate(gate)
    try await Served.with(
      Self.schema + " extend type Query { slow: String }",
      { $0.resolvers = { $0.resolve("Query", "slow") { _ in await shared.pass() } } }
    ) { server in
      let socket = try await RawSocket.session(port: server.port)
      for number in 0..<20 { socket.subscribe("slow \(number)", "{ slow }") }
      socket.subscribe("quick", "{ listNotes { items { id } } }")
      #expect(try await socket.message("next")["id"] == "quick")
      let answer = try await HTTPRequest.graphql("{ __typename }", port: server.port)
      #expect(answer.status == 200)
      opener.finish()
      for _ in 0..<20 { #expect(try await socket.message("next")["payload"]?["data"]?["slow"] == "done") }
      socket.abort()
    }
  }

  /// Lets all callers through once the stream has ended.
  private actor SharedGate {
    private let waiting: Task<Void, Never>
    init(_ stream: AsyncStream<Void>) { waiting = Task { for await _ in stream {} } }
    func pass() async -> String {
      await waiting.value
      return "done"
    }
  }
}
