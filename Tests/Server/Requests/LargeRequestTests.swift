import CMartletAllocationCounter
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Operations of a size that would hold up the other connections of a loop run on none.
@Suite(.timeLimit(.minutes(1))) struct LargeRequestTests {
  private static let schema = "type Note @model { id: ID! text: String stars: Int }"
  private static let mutation =
    "mutation($writes: [ModelWriteInput!]!) { transaction(writes: $writes) { ... on Note { text stars } } }"

  /// A server whose planning of writes is watched: whether each was planned on a loop.
  private final class Watched: Sendable {
    let server: CountedServer
    private let places = Lock<[Bool]>([])

    init(_ adjust: (inout ServerConfiguration) -> Void = { _ in }) throws {
      let (places, loops) = (places, Lock<[any Loop]>([]))
      server = try CountedServer(
        schema: LargeRequestTests.schema,
        watch: WriteWatch {
          let isOnLoop = loops.withLock { $0 }.contains { $0.isCurrent }
          places.withLock { $0.append(isOnLoop) }
        }, adjust)
      let started: [any Loop] = server.loops
      loops.withLock { $0 = started }
    }

    /// Whether creates have been planned on a loop since the last call: true, false, or both.
    func takePlaces() -> Set<Bool> {
      places.withLock { places in
        defer { places = [] }
        return Set(places)
      }
    }
  }

  private static func creates(_ count: Int, _ prefix: String) -> JSONValue {
    .array(
      (0..<count).map { number in
        ["createNote": ["text": .string("\(prefix)\(number)"), "stars": .int(Int64(number))]]
      })
  }

  private static func body(_ count: Int, _ prefix: String) -> JSONValue {
    ["query": .string(mutation), "variables": ["writes": creates(count, prefix)]]
  }

  private static func post(_ body: JSONValue, port: Int) async throws -> JSONValue {
    let answer = try await HTTPRequest.send(
      "POST", "/graphql", port: port, headers: [("Content-Type", "application/json")],
      body: String(decoding: body.serialized(), as: UTF8.self))
    #expect(answer.status == 200, "\(answer.text.prefix(300))")
    return answer.json
  }

  private static func check(_ json: JSONValue?, _ count: Int, _ prefix: String) {
    let records = json?["data"]?["transaction"]?.array ?? []
    #expect(records.map { $0["text"]?.string } == (0..<count).map { "\(prefix)\($0)" })
    #expect(records.map { $0["stars"]?.int } == (0..<count).map { Int64($0) })
  }

  @Test func `a transaction of many writes runs on no loop, by whichever door it comes`() async throws {
    let watched = try Watched()
    let port = watched.server.port
    Self.check(try await Self.post(Self.body(600, "h"), port: port), 600, "h")
    #expect(watched.takePlaces() == [false])
    let list = try await Self.post([Self.body(600, "b"), Self.body(2, "s")], port: port)
    Self.check(list[0], 600, "b")
    Self.check(list[1], 2, "s")
    #expect(watched.takePlaces() == [true, false])
    let socket = try await RawSocket.session(port: port)
    socket.subscribe("1", Self.mutation, variables: ["writes": Self.creates(600, "w")])
    Self.check(try await socket.message("next")["payload"], 600, "w")
    #expect(watched.takePlaces() == [false])
    socket.abort()
    await watched.server.stop()
  }

  @Test func `a document of many writes is planned on no loop, by whichever door it comes`() async throws {
    let watched = try Watched { $0.limits.query.bytesOnLoop = 2_000 }
    func document(_ prefix: String) -> String {
      let writes = (0..<80).map { #"{createNote: {text: "\#(prefix)\#($0)", stars: \#($0)}}"# }.joined(separator: ", ")
      return "mutation { transaction(writes: [\(writes)]) { ... on Note { text stars } } }"
    }
    let port = watched.server.port
    for round in ["a", "b"] {
      let answer = try await HTTPRequest.graphql(document(round), port: port)
      Self.check(answer.json, 80, round)
    }
    let socket = try await RawSocket.session(port: port)
    socket.subscribe("1", document("w"))
    Self.check(try await socket.message("next")["payload"], 80, "w")
    #expect(watched.takePlaces() == [false])
    // Its errors come back as those of any other document.
    let broken = try await HTTPRequest.graphql(document("c") + " query {", port: port)
    #expect(broken.json["errors"]?.array?.count == 1 && broken.json["data"] == nil, "\(broken.text)")
    socket.subscribe("2", "query { nothing } #" + String(repeating: "x", count: 4_000))
    #expect(try await socket.message("error")["id"] == "2")
    // An operation that is withdrawn while it is planned is not run.
    let withdrawn: JSONValue = ["id": "3", "type": "subscribe", "payload": ["query": .string(document("x"))]]
    // Sent together, so that they are read together.
    socket.send([
      String(decoding: withdrawn.serialized(), as: UTF8.self), #"{"id":"3","type":"complete"}"#,
      #"{"id":"4","type":"subscribe","payload":{"query":"{ listNotes(filter: {text: {eq: \"x0\"}}) { items { id } } }"}}"#,
    ])
    let next = try await socket.message("next")
    #expect(next["id"] == "4" && next["payload"]?["data"]?["listNotes"]?["items"]?.array == [])
    socket.abort()
    await watched.server.stop()
  }

  @Test(.enabled(if: martlet_allocations_are_counted(), "a sanitizer has an allocator of its own"))
  func `what a loop does for a transaction does not grow with its writes`() async throws {
    let watched = try Watched()
    let port = watched.server.port
    _ = try await Self.post(Self.body(600, "first"), port: port)
    var spent: [Int] = []
    for count in [600, 1_800] {
      let before = await watched.server.counts()
      _ = try await Self.post(Self.body(count, "n\(count)-"), port: port)
      spent.append((await watched.server.counts() - before).allocations)
    }
    // On the loop each write would take dozens of allocations. What grows here is the look-up of its change.
    #expect(spent[1] - spent[0] < 3 * 1_200, "\(spent)")
    await watched.server.stop()
  }

  @Test(.enabled(if: martlet_allocations_are_counted(), "a sanitizer has an allocator of its own"))
  func `what a loop does for a message on a socket does not grow with its values`() async throws {
    let watched = try Watched()
    let socket = try await RawSocket.session(port: watched.server.port)
    socket.subscribe("first", Self.mutation, variables: ["writes": Self.creates(600, "first")])
    _ = try await socket.message("complete")
    var spent: [Int] = []
    for count in [600, 1_800] {
      let before = await watched.server.counts()
      socket.subscribe("\(count)", Self.mutation, variables: ["writes": Self.creates(count, "n\(count)-")])
      _ = try await socket.message("complete")
      spent.append((await watched.server.counts() - before).allocations)
    }
    // Reading one write of the message takes several allocations. What grows here is the look-up of its change.
    #expect(spent[1] - spent[0] < 3 * 1_200, "\(spent)")
    socket.abort()
    await watched.server.stop()
  }

  @Test(arguments: [("graphql-transport-ws", "subscribe", "next"), ("graphql-ws", "start", "data")])
  func `messages that follow a large one are taken after it, in their order`(
    dialect: String, start: String, next: String
  ) async throws {
    let watched = try Watched()
    let socket = try await RawSocket.open(port: watched.server.port, subprotocols: [dialect])
    socket.send(#"{"type":"connection_init"}"#)
    _ = try await socket.message("connection_ack")
    func message(_ id: String, _ query: String, padding: Int = 0) -> String {
      let payload: JSONObject = [
        "query": .string(query), "variables": ["p": .string(String(repeating: "p", count: padding))],
      ]
      let message: JSONValue = ["id": .string(id), "type": .string(start), "payload": .object(payload)]
      return String(decoding: message.serialized(), as: UTF8.self)
    }
    // An identifier that is in use is known only if the messages are taken in order; so is one that is free again.
    socket.send([
      message("1", "subscription { onCreateNote { id } }", padding: 40_000),
      #"{"type":"\#(start == "start" ? "stop" : "complete")","id":"1"}"#,
      message("1", "{ __typename }", padding: 50_000), message("2", "{ __typename }"),
    ])
    var ids: [String] = []
    while ids.count < 2 {
      let result = try await socket.message(next)
      #expect(result["payload"]?["data"]?["__typename"] == "Query", "\(result)")
      ids.append(result["id"]?.string ?? "")
    }
    #expect(ids == ["1", "2"])
    // What is not a message ends the connection, or is answered, as a short one does.
    socket.send(String(repeating: "x", count: 40_000), message("3", "{ __typename }"))
    if start == "subscribe" {
      while case .message = await socket.next() {}
    } else {
      #expect(try await socket.message("connection_error")["id"] == .null)
      #expect(try await socket.message(next)["id"] == "3")
    }
    socket.abort()
    await watched.server.stop()
  }

  @Test func `a socket that closes while its message is read leaves nothing behind`() async throws {
    let watched = try Watched()
    for _ in 0..<5 {
      let socket = try await RawSocket.session(port: watched.server.port)
      socket.subscribe("1", Self.mutation, variables: ["writes": Self.creates(600, "c")])
      socket.abort()
    }
    let after = try await RawSocket.session(port: watched.server.port)
    after.subscribe("1", "{ __typename }")
    #expect(try await after.message("next")["payload"]?["data"]?["__typename"] == "Query")
    after.abort()
    await watched.server.stop()
  }

  @Test func `a large operation in parts runs on no loop`() async throws {
    let watched = try Watched()
    let body: JSONValue = [
      "query":
        "mutation($writes: [ModelWriteInput!]!) { transaction(writes: $writes) { __typename ... @defer { ... on Note { text stars } } } }",
      "variables": ["writes": Self.creates(600, "d")],
    ]
    let answer = try await HTTPRequest.send(
      "POST", "/graphql", port: watched.server.port,
      headers: [("Content-Type", "application/json"), ("Accept", "multipart/mixed;incrementalSpec=v0.2")],
      body: String(decoding: body.serialized(), as: UTF8.self))
    #expect(answer.status == 200 && answer.text.contains(#""text":"d599""#), "\(answer.text.prefix(300))")
    #expect(answer.text.contains(#""hasNext":false"#))
    #expect(watched.takePlaces() == [false])
    await watched.server.stop()
  }

  @Test func `a large document in a list of requests is planned on no loop`() async throws {
    let watched = try Watched { $0.limits.query.bytesOnLoop = 2_000 }
    let writes = (0..<80).map { #"{createNote: {text: "l\#($0)", stars: \#($0)}}"# }.joined(separator: ", ")
    let document = "mutation { transaction(writes: [\(writes)]) { ... on Note { text stars } } }"
    let answer = try await Self.post(
      [["query": "{ __typename }"], ["query": .string(document)], ["query": .string(document + "}")]],
      port: watched.server.port)
    #expect(answer[0]?["data"]?["__typename"] == "Query")
    Self.check(answer[1], 80, "l")
    #expect(answer[2]?["errors"]?.array?.count == 1)
    #expect(watched.takePlaces() == [false])
    await watched.server.stop()
  }

  @Test func `a large write that the store refuses is counted with the loop's`() async throws {
    let watched = try Watched { $0.limits.store.queuedWrites = 1 }
    let server = watched.server
    server.writer.hold()
    let calls = server.writer.calls
    async let first = Self.post(Self.body(2, "a"), port: server.port)
    while server.writer.calls == calls { await Task.yield() }
    async let second = Self.post(Self.body(600, "b"), port: server.port)
    let refused = try await second
    #expect(refused["errors"]?[0]?["extensions"]?["code"] == "OVERLOADED", "\(refused)")
    server.writer.release()
    Self.check(try await first, 2, "a")
    let counts = await server.counts()
    #expect(counts.hub[.writesRefused] == 1)
    await server.stop()
  }
}
