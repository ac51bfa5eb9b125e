import MartletJSON
import MartletServer
import Testing

/// What the rules let callers sync and follow.
@Suite(.timeLimit(.minutes(1))) struct SyncRuleTests {
  private static let schema = """
    type Note @model @versioned
      @auth(rules: [
        {allow: owner}, {allow: groups, groups: ["readers"], operations: [read]},
        {allow: groups, groupsField: "team", operations: [read, update]}
      ]) {
      id: ID!
      text: String
      team: String
      rank: Int @auth(rules: [{allow: owner}])
    }
    type Secret @model @versioned @auth(rules: [{allow: groups, groups: ["staff"]}]) { id: ID! text: String }
    """

  private func page(_ caller: String, _ port: Int, _ arguments: String = "") async throws -> JSONValue {
    try await RuleFixture.data(
      "{ syncNotes\(arguments) { items { id text rank _version _deleted } startedAt } }", as: caller, port)["syncNotes"]
      ?? .null
  }

  private func update(_ server: GraphQLServer, _ values: JSONObject) async throws {
    _ = try await server.transaction { _ = try $0.update("Note", values) }
  }

  @Test
  func `a record that the caller may no longer see is a deletion with the last image it saw, others never appear`()
    async throws
  {
    try await RuleFixture.with(Self.schema) { server in
      let port = server.port
      _ = try await server.transaction { transaction in
        try transaction.create("Note", ["id": "a", "text": "0", "owner": "ada", "team": "red", "rank": 3])
        try transaction.create("Note", ["id": "b", "text": "0", "owner": "ada", "team": "blue", "rank": 3])
      }
      let base = try await page("eve red", port)
      #expect(base["items"] == [["id": "a", "text": "0", "rank": .null, "_version": 1, "_deleted": .null]])
      try await update(server, ["id": "a", "text": "1"])
      try await update(server, ["id": "a", "text": "2", "team": "blue"])
      try await update(server, ["id": "b", "text": "3"])
      let since = "(lastSync: \(base["startedAt"]?.int ?? 0))"
      #expect(
        try await page("eve red", port, since)["items"]
          == [["id": "a", "text": "1", "rank": .null, "_version": 3, "_deleted": true]])
      #expect(try await page("eve green", port, since)["items"] == [])
      #expect(try await RuleFixture.code("{ syncSecrets { items { id } } }", as: "eve", port) == "FORBIDDEN")
      // A filter says nothing about a field that is hidden.
      #expect(try await page("eve blue", port, "(filter: {rank: {eq: 3}})")["items"] == [])
      #expect(try await page("ada", port, "(filter: {rank: {eq: 3}})")["items"]?.array?.count == 2)
    }
  }

  @Test func `the feed has whole records that enter, changed fields of those that stay, and keys of those that leave`()
    async throws
  {
    try await RuleFixture.with(Self.schema) { server in
      let socket = try await RuleFixture.socket(as: "eve red", server.port)
      socket.subscribe("1", "subscription { modelChanges { model effect key version changedAt fields } }")
      _ = try await socket.message("ready")
      _ = try await server.transaction { transaction in
        try transaction.create("Note", ["id": "a", "text": "0", "owner": "ada", "team": "blue", "rank": 3])
        try transaction.create("Secret", ["id": "s", "text": "0"])
        try transaction.update("Note", ["id": "a", "team": "red"])
      }
      try await update(server, ["id": "a", "text": "1", "rank": 4])
      try await update(server, ["id": "a", "team": "blue"])
      func next() async throws -> JSONValue? {
        try await socket.message("next")["payload"]?["data"]?["modelChanges"]
      }
      let entered = try await next()
      #expect(entered?["effect"] == "ENTERED")
      #expect(entered?["version"] == 2)
      #expect(entered?["key"] == ["id": "a"])
      #expect(entered?["fields"]?["text"] == "0")
      #expect(entered?["fields"]?["rank"] == .null)
      let stayed = try await next()
      #expect(stayed?["effect"] == "STAYED")
      #expect(stayed?["fields"]?["text"] == "1")
      #expect(stayed?["fields"]?["rank"] == nil)
      #expect(stayed?["fields"]?["team"] == nil)
      let left = try await next()
      #expect(left?["effect"] == "LEFT")
      #expect(left?["fields"] == .null)
      #expect(left?["version"] == 4)
      socket.abort()
    }
  }

  @Test func `a conflict shows the stored record as far as its caller sees it`() async throws {
    try await RuleFixture.with(Self.schema) { server in
      let port = server.port
      _ = try await server.transaction { transaction in
        try transaction.create("Note", ["id": "a", "text": "0", "owner": "ada", "team": "red", "rank": 3])
        try transaction.update("Note", ["id": "a", "text": "1"])
      }
      let write = #"mutation { updateNote(input: {id: "a", text: "x", _version: 1}) { text _version } }"#
      #expect(
        try await RuleFixture.data(write, as: "eve red", port)["updateNote"] == ["text": "1", "_version": 3])
      let deletion = #"mutation { deleteNote(input: {id: "a", _version: 1}) { id } }"#
      let refused = try await RuleFixture.post(deletion, as: "ada", port)
      #expect(refused["errors"]?[0]?["extensions"]?["data"]?["rank"] == 3)
      _ = try await server.transaction { _ = try $0.delete("Note", ["id": "a"]) }
      // A deleted record that the caller could not see is one that never was.
      let foreign = try await RuleFixture.post(write, as: "bob green", port)
      #expect(foreign["errors"]?[0]?["extensions"]?["code"] == "NOT_FOUND")
      #expect(foreign["errors"]?[0]?["extensions"]?["data"] == nil)
    }
  }
}
