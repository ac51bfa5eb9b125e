import MartletJSON
import MartletServer
import Testing

/// What rules let callers read, by every generated field.
@Suite(.timeLimit(.minutes(1))) struct RuleReadTests {
  /// Notes of ada and bob in one folder.
  private static func filled(_ body: (Int) async throws -> Void) async throws {
    try await RuleFixture.with { server in
      try await server.transaction { transaction in
        try transaction.create("Folder", ["id": "f", "name": "first"])
        for (id, owner, team) in [("a1", "ada", "red"), ("a2", "ada", "blue"), ("b1", "bob", "red")] {
          try transaction.create(
            "Note",
            [
              "id": .string(id), "text": .string("text \(id)"), "owner": .string(owner), "team": .string(team),
              "rank": 7, "audit": "checked", "folderID": "f",
            ])
        }
        try transaction.create("Vault", ["id": "c"])
      }
      try await body(server.port)
    }
  }

  @Test func `lists, indexes and relations hold the records that the rules show, and pages are full of them`()
    async throws
  {
    try await Self.filled { port in
      let expected = [
        "ada": ["a1", "a2"], "bob": ["b1"], "eve": [], "eve red": ["a1", "b1"], "eve readers": ["a1", "a2", "b1"],
      ]
      for (caller, ids) in expected {
        let data = try await RuleFixture.data(
          #"{ listNotes { items { id } } notesByFolder(folderID: "f") { items { id } } }"#, as: caller, port)
        #expect(RuleFixture.ids(data["listNotes"]) == ids, "\(caller)")
        #expect(RuleFixture.ids(data["notesByFolder"]) == ids, "\(caller)")
      }
      let first = try await RuleFixture.data("{ listNotes(limit: 1) { items { id } nextToken } }", as: "bob", port)
      #expect(RuleFixture.ids(first["listNotes"]) == ["b1"])
    }
  }

  @Test func `a record that the rules hide is answered as one that does not exist`() async throws {
    try await Self.filled { port in
      for (caller, isSeen) in [("ada", true), ("bob", false), ("eve red", true), ("eve", false)] {
        let data = try await RuleFixture.data(#"{ getNote(id: "a1") { id } }"#, as: caller, port)
        #expect(data["getNote"]?.isNull == !isSeen, "\(caller)")
      }
      let missing = try await RuleFixture.post(#"mutation { updateNote(input: {id: "zz"}) { id } }"#, as: "bob", port)
      let hidden = try await RuleFixture.post(#"mutation { updateNote(input: {id: "a1"}) { id } }"#, as: "bob", port)
      #expect(missing == hidden)
    }
  }

  @Test func `a hidden field is null, and cannot be filtered or sorted by`() async throws {
    try await Self.filled { port in
      let own = try await RuleFixture.data(#"{ getNote(id: "a1") { rank audit } }"#, as: "ada", port)
      #expect(own["getNote"] == ["rank": 7, "audit": .null])
      let other = try await RuleFixture.data(#"{ getNote(id: "a1") { text rank audit } }"#, as: "eve readers", port)
      #expect(other["getNote"] == ["text": "text a1", "rank": .null, "audit": .null])
      let probe = #"{ listNotes(filter: {audit: {beginsWith: "c"}}) { items { id } } }"#
      #expect(try await RuleFixture.code(probe, as: "ada", port) == "FORBIDDEN")
      // The rank of one's own notes is seen, that of others counts as null.
      let byRank = "{ listNotes(filter: {rank: {eq: 7}}) { items { id } } }"
      #expect(
        RuleFixture.ids(try await RuleFixture.data(byRank, as: "ada readers", port)["listNotes"]) == ["a1", "a2"])
      #expect(try await RuleFixture.code(byRank, as: "eve staff", port) == nil)
    }
  }

  @Test func `a relation is followed where its own rules and those of its target allow`() async throws {
    try await Self.filled { port in
      let query = #"{ getFolder(id: "f") { name notes { items { id folder { name } } } } }"#
      let reader = try await RuleFixture.data(query, as: "eve readers", port)
      #expect(RuleFixture.ids(reader["getFolder"]?["notes"]) == ["a1", "a2", "b1"])
      #expect(reader["getFolder"]?["notes"]?["items"]?[0]?["folder"]?["name"] == "first")
      // The relation's rule names neither, and an owner of notes does not own the folder.
      let owner = try await RuleFixture.data(query, as: "ada", port)
      #expect(RuleFixture.ids(owner["getFolder"]?["notes"]) == [] && owner["getFolder"]?["name"] == "first")
    }
  }

  @Test func `a model without rules is closed in a schema that has some, and so is everything to a guest`() async throws
  {
    try await Self.filled { port in
      for query in [#"{ getVault(id: "c") { id } }"#, "{ listVaults { items { id } } }"] {
        #expect(try await RuleFixture.code(query, as: "ada", port) == "FORBIDDEN")
      }
      let guest = try await HTTPRequest.graphql("{ listNotes { items { id } } }", port: port)
      #expect(guest.json["errors"]?[0]?["extensions"]?["code"] == "FORBIDDEN")
      #expect(guest.json["errors"]?[0]?["message"] == "Not Authorized to access listNotes on type Query")
    }
  }
}
