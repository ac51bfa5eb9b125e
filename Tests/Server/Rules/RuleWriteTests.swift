import MartletJSON
import MartletServer
import Testing

/// What rules let callers write.
@Suite(.timeLimit(.minutes(1))) struct RuleWriteTests {
  @Test func `a new record belongs to its caller, and creating one for another caller is refused`() async throws {
    try await RuleFixture.with { server in
      let own = try await RuleFixture.data(
        #"mutation { createNote(input: {id: "a", text: "x", rank: 1}) { id owner rank } }"#, as: "ada", server.port)
      #expect(own["createNote"] == ["id": "a", "owner": "ada", "rank": 1])
      let foreign = #"mutation { createNote(input: {id: "b", owner: "bob"}) { id } }"#
      #expect(try await RuleFixture.code(foreign, as: "ada", server.port) == "FORBIDDEN")
      let taken = #"mutation { createNote(input: {id: "a"}) { id } }"#
      #expect(try await RuleFixture.code(taken, as: "ada", server.port) == "ALREADY_EXISTS")
      // The record is hidden from bob, and so is that it exists.
      let hidden = try await RuleFixture.post(taken, as: "bob", server.port)
      let refused = try await RuleFixture.post(foreign, as: "ada", server.port)
      #expect(hidden["errors"]?[0]?["message"] == refused["errors"]?[0]?["message"])
    }
  }

  @Test func `updates and deletions are judged by the record before them, and their answers by the one after`()
    async throws
  {
    try await RuleFixture.with { server in
      let port = server.port
      _ = try await RuleFixture.data(
        #"mutation { createNote(input: {id: "a", text: "x", team: "red", rank: 1}) { id } }"#, as: "ada", port)
      let text = #"mutation { updateNote(input: {id: "a", text: "y"}) { text rank } }"#
      #expect(try await RuleFixture.code(text, as: "bob", port) == "NOT_FOUND")
      #expect(try await RuleFixture.code(text, as: "bob readers", port) == "FORBIDDEN")
      let team = try await RuleFixture.data(text, as: "bob red", port)
      #expect(team["updateNote"] == ["text": "y", "rank": .null])
      let rank = #"mutation { updateNote(input: {id: "a", rank: 2}) { id } }"#
      #expect(try await RuleFixture.code(rank, as: "bob red", port) == "FORBIDDEN")
      let audit = #"mutation { updateNote(input: {id: "a", audit: "z"}) { id } }"#
      #expect(try await RuleFixture.code(audit, as: "ada", port) == "FORBIDDEN")
      // The team moves on: its member no longer sees the record, not even in the answer.
      let moved = try await RuleFixture.data(
        #"mutation { updateNote(input: {id: "a", team: "blue"}) { id } }"#, as: "bob red", port)
      #expect(moved["updateNote"] == .null)
      let gone = #"mutation { deleteNote(input: {id: "a"}) { id } }"#
      #expect(try await RuleFixture.code(gone, as: "bob blue", port) == "FORBIDDEN")
      #expect(try await RuleFixture.data(gone, as: "ada", port)["deleteNote"] == ["id": "a"])
    }
  }

  @Test func `a condition says nothing about what its caller does not see`() async throws {
    try await RuleFixture.with { server in
      let port = server.port
      _ = try await RuleFixture.data(
        #"mutation { createNote(input: {id: "a", team: "red", rank: 5}) { id } }"#, as: "ada", port)
      func update(_ condition: String) -> String {
        #"mutation { updateNote(input: {id: "a", text: "t"}, condition: \#(condition)) { id } }"#
      }
      #expect(try await RuleFixture.code(update("{audit: {attributeExists: true}}"), as: "ada", port) == "FORBIDDEN")
      // Whatever bob guesses, the rank counts as null.
      #expect(try await RuleFixture.code(update("{rank: {eq: 5}}"), as: "bob red", port) == "CONDITION_FAILED")
      #expect(try await RuleFixture.code(update("{rank: {eq: 6}}"), as: "bob red", port) == "CONDITION_FAILED")
      #expect(try await RuleFixture.code(update("{rank: {eq: 5}}"), as: "ada", port) == nil)
    }
  }

  @Test func `a transaction with a write that the rules refuse writes nothing`() async throws {
    try await RuleFixture.with { server in
      let port = server.port
      let both = """
        mutation { transaction(writes: [
          {createNote: {id: "a", text: "x"}}, {createNote: {id: "b", owner: "bob"}}
        ]) { __typename } }
        """
      #expect(try await RuleFixture.code(both, as: "ada", port) == "FORBIDDEN")
      let data = try await RuleFixture.data("{ listNotes { items { id } } }", as: "eve readers", port)
      #expect(RuleFixture.ids(data["listNotes"]) == [])
    }
  }

  /// More writes than a group takes are prepared before the writer's turn and created several at once.
  @Test func `records that are created together are judged as each alone, and the refusal is the same`() async throws {
    try await RuleFixture.with { (server: GraphQLServer) async throws in
      let port = server.port
      func create(_ ids: [String], owner: String? = nil, at place: Int = 0) -> String {
        let writes = ids.enumerated().map { index, id in
          let owner = index == place ? owner.map { ", owner: \"\($0)\"" } ?? "" : ""
          return "{createNote: {id: \"\(id)\"\(owner)}}"
        }
        return "mutation { transaction(writes: [\(writes.joined(separator: " "))]) { __typename } }"
      }
      func ids(_ prefix: String) -> [String] { (0..<200).map { "\(prefix)\($0)" } }
      func count() async throws -> Int {
        let data = try await RuleFixture.data("{ listNotes(limit: 1000) { items { id } } }", as: "eve readers", port)
        return RuleFixture.ids(data["listNotes"]).count
      }
      #expect(try await RuleFixture.code(create(ids("a")), as: "ada", port) == nil)
      #expect(try await count() == 200)
      // Another's record; the caller's own key; a key of another caller's, which it does not see.
      #expect(try await RuleFixture.code(create(ids("b"), owner: "bob", at: 150), as: "ada", port) == "FORBIDDEN")
      #expect(try await RuleFixture.code(create(ids("c") + ["a7"]), as: "ada", port) == "ALREADY_EXISTS")
      #expect(try await RuleFixture.code(create(ids("d") + ["a7"]), as: "bob", port) == "FORBIDDEN")
      #expect(try await count() == 200)
    }
  }

  @Test func `another caller's write number finds no answer of this one's`() async throws {
    try await RuleFixture.with { server in
      let port = server.port
      let extensions: JSONObject = ["martlet": ["write": ["client": "phone", "number": 1]]]
      func create(_ id: String, _ caller: String) async throws -> JSONValue {
        try await HTTPRequest.graphql(
          #"mutation { createNote(input: {id: "\#(id)"}) { id owner } }"#, port: port, extensions: extensions,
          headers: [("Authorization", caller)]
        ).json["data"]?["createNote"] ?? .null
      }
      for (id, caller) in [("a", "ada"), ("a", "ada"), ("b", "bob")] {
        let made = try await create(id, caller)
        #expect(made == ["id": .string(id), "owner": .string(caller)])
      }
    }
  }
}
