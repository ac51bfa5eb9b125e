import MartletJSON
import MartletServer
import MartletStore
import Testing

/// Numbered writes on the wire: acknowledged numbers, resends and whose they are. The store decides; these tests show
/// that everything it needs arrives, by each door.
@Suite(.timeLimit(.minutes(1))) struct NumberedWriteTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  enum Door: CaseIterable { case http, socket }

  /// One way to the server.
  private struct Way {
    let port: Int
    let socket: RawSocket?

    init(_ door: Door, _ server: GraphQLServer) async throws {
      port = server.port
      socket = door == .socket ? try await RawSocket.session(port: server.port) : nil
    }

    /// Creates the note `id` with these members of `extensions.martlet.write` and returns the response.
    func create(_ id: String, _ write: JSONObject) async throws -> JSONValue {
      let query = "mutation { createNote(input: {id: \"\(id)\"}) { id } }"
      let extensions: JSONObject = ["martlet": ["write": .object(write)]]
      guard let socket else { return try await HTTPRequest.graphql(query, port: port, extensions: extensions).json }
      let message: JSONValue = [
        "id": "1", "type": "subscribe", "payload": ["query": .string(query), "extensions": .object(extensions)],
      ]
      socket.send(String(decoding: message.serialized(), as: UTF8.self))
      let answer = try await socket.message()
      // A refused request is an `error` with a list of errors; everything else a `next` and a `complete`.
      guard answer["type"] == "next" else { return ["errors": answer["payload"] ?? .null] }
      _ = try await socket.message("complete")
      return answer["payload"] ?? .null
    }
  }

  private func code(_ answer: JSONValue) -> String? { answer["errors"]?[0]?["extensions"]?["code"]?.string }

  private func write(_ number: Int64, _ acknowledged: Int64? = nil, resend: Bool = false) -> JSONObject {
    var write: JSONObject = ["client": "board", "number": .int(number)]
    if let acknowledged { write["acknowledged"] = .int(acknowledged) }
    if resend { write["resend"] = true }
    return write
  }

  @Test(arguments: Door.allCases)
  func `a number up to the acknowledged one is refused and never applied again`(door: Door) async throws {
    try await Served.with(Self.schema) { server in
      let way = try await Way(door, server)
      for number in Int64(1)...3 {
        #expect(code(try await way.create("\(number)", write(number, number - 1))) == nil)
      }
      let head = server.node.store.position.head
      #expect(code(try await way.create("2", write(2, 1, resend: true))) == "OUTCOME_FORGOTTEN")
      #expect(code(try await way.create("other", write(1))) == "OUTCOME_FORGOTTEN")
      #expect(server.node.store.position.head == head)
      let again = try await way.create("3", write(3, 2, resend: true))
      #expect(again["data"]?["createNote"]?["id"] == "3", "\(again)")
      #expect(server.node.store.position.head == head)
    }
  }

  @Test(arguments: Door.allCases)
  func `a marked resend of a client that the server does not know is never applied`(door: Door) async throws {
    try await Served.with(Self.schema) { server in
      let way = try await Way(door, server)
      let head = server.node.store.position.head
      #expect(code(try await way.create("a", write(7, 6, resend: true))) == "OUTCOME_FORGOTTEN")
      #expect(server.node.store.position.head == head)
      #expect(code(try await way.create("a", write(7, 6))) == nil)
      #expect(code(try await way.create("a", write(7, 6, resend: true))) == nil)
      #expect(server.node.store.position.head == head + 2)
    }
  }

  @Test(arguments: Door.allCases)
  func `a client with too many unacknowledged writes is refused as overload until it acknowledges`(
    door: Door
  ) async throws {
    try await Served.with(Self.schema) { server in
      let way = try await Way(door, server)
      let largest = server.node.store.limits.unacknowledgedWrites
      #expect(code(try await way.create("a", write(1, 0))) == nil)
      #expect(code(try await way.create("b", write(largest + 1, 0))) == "OVERLOADED")
      #expect(code(try await way.create("b", write(largest + 1, 1))) == nil)
    }
  }

  @Test func `two callers with one client name and one number are two writers`() async throws {
    try await Served.with(Self.schema, { $0.access = .keys(try Served.access("anna", "berta")) }) { server in
      func create(_ id: String, _ key: String) async throws -> JSONValue {
        try await HTTPRequest.graphql(
          "mutation { createNote(input: {id: \"\(id)\"}) { id } }", port: server.port,
          extensions: ["martlet": ["write": .object(write(1, 0))]], headers: [("x-api-key", key)]
        ).json
      }
      var created: [String?] = []
      for (id, key) in [("a", "anna"), ("b", "berta"), ("c", "anna")] {
        created.append(try await create(id, key)["data"]?["createNote"]?["id"]?.string)
      }
      // The third is a resend of the first.
      #expect(created == ["a", "b", "a"])
    }
  }

  @Test(arguments: Door.allCases)
  func `an acknowledged number that is not below the write's own is refused`(door: Door) async throws {
    try await Served.with(Self.schema) { server in
      let way = try await Way(door, server)
      for wrong in [-1, 3, 4] as [Int64] {
        #expect(code(try await way.create("a", write(3, wrong))) == "BAD_USER_INPUT")
      }
      #expect(code(try await way.create("a", write(3, 2))) == nil)
    }
  }

  @Test func `a remembered conflict comes with the record as it is now`() async throws {
    try await Served.with("type Note @model { id: ID! text: String rank: Int }") { server in
      func send(_ query: String, _ number: Int64? = nil, resend: Bool = false) async throws -> JSONValue {
        let extensions: JSONObject =
          number.map { ["martlet": ["write": .object(write($0, 0, resend: resend))]] } ?? JSONObject()
        return try await HTTPRequest.graphql(query, port: server.port, extensions: extensions).json
      }
      func conflict(_ answer: JSONValue) -> JSONValue? { answer["errors"]?[0]?["extensions"]?["data"] }
      _ = try await send(#"mutation { createNote(input: {id: "a", text: "1"}) { id } }"#)
      let create = #"mutation { createNote(input: {id: "a", text: "mine"}) { id } }"#
      let update = #"mutation { updateNote(input: {id: "a", text: "mine"}, condition: {rank: {eq: 7}}) { id } }"#
      var refused = try await send(create, 1)
      #expect(code(refused) == "ALREADY_EXISTS" && conflict(refused)?["text"] == "1", "\(refused)")
      refused = try await send(update, 2)
      #expect(code(refused) == "CONDITION_FAILED" && conflict(refused)?["text"] == "1", "\(refused)")
      _ = try await send(#"mutation { updateNote(input: {id: "a", text: "2", rank: 7}) { id } }"#)
      let head = server.node.store.position.head
      // The outcome is the first one, also where the write would succeed by now; the record is today's.
      for (query, number, expected) in [(create, 1, "ALREADY_EXISTS"), (update, 2, "CONDITION_FAILED")] {
        let again = try await send(query, Int64(number), resend: true)
        #expect(code(again) == expected && again["errors"]?[0]?["message"]?.string != nil)
        #expect(conflict(again)?["text"] == "2" && conflict(again)?["rank"] == 7, "\(again)")
      }
      #expect(server.node.store.position.head == head)
      _ = try await send(#"mutation { deleteNote(input: {id: "a"}) { id } }"#)
      let gone = try await send(create, 1, resend: true)
      #expect(code(gone) == "ALREADY_EXISTS" && conflict(gone) == .null, "\(gone)")
    }
  }

  @Test func `a remembered conflict shows its caller no more than the rules do now`() async throws {
    try await RuleFixture.with { server in
      let port = server.port
      func send(_ query: String, as caller: String, _ number: Int64? = nil) async throws -> JSONValue {
        let extensions: JSONObject = number.map { ["martlet": ["write": .object(write($0, 0))]] } ?? JSONObject()
        return try await RuleFixture.post(query, as: caller, port, extensions: extensions)
      }
      _ = try await send(
        #"mutation { createNote(input: {id: "a", text: "x", team: "red", rank: 5}) { id } }"#, as: "ada")
      let update = #"mutation { updateNote(input: {id: "a", text: "t"}, condition: {text: {eq: "y"}}) { id } }"#
      let first = try await send(update, as: "bob red", 1)
      #expect(code(first) == "CONDITION_FAILED", "\(first)")
      // The member of the team sees the text and not the rank.
      let shown = first["errors"]?[0]?["extensions"]?["data"]
      #expect(shown?["text"] == "x" && shown?["rank"] == .null, "\(first)")
      _ = try await send(#"mutation { updateNote(input: {id: "a", team: "blue", text: "secret"}) { id } }"#, as: "ada")
      let again = try await send(update, as: "bob red", 1)
      #expect(code(again) == "CONDITION_FAILED" && again["errors"]?[0]?["extensions"]?["data"] == .null, "\(again)")
    }
  }
}
