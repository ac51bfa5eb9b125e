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

  @Test func `records that leave the caller's view between pages are in none of them, and deleted in the next sync`()
    async throws
  {
    try await RuleFixture.with(Self.schema) { server in
      let port = server.port
      _ = try await server.transaction { transaction in
        for id in ["a", "b", "c"] {
          try transaction.create("Note", ["id": .string(id), "text": "0", "owner": "ada", "team": "red"])
        }
      }
      var (token, since): (JSONValue, JSONValue) = (.null, .null)
      var seen: [JSONValue] = []
      repeat {
        let argument = token.string.map { ", nextToken: \"\($0)\"" } ?? ""
        let page = try await RuleFixture.data(
          "{ syncNotes(limit: 1\(argument)) { items { id } nextToken startedAt } }", as: "eve red", port)["syncNotes"]
        if token.isNull {
          since = page?["startedAt"] ?? .null
          for id in ["a", "c"] { try await update(server, ["id": .string(id), "text": "1", "team": "blue"]) }
        }
        seen += (page?["items"]?.array ?? []).compactMap { $0["id"] }
        token = page?["nextToken"] ?? .null
      } while !token.isNull
      #expect(seen == ["a", "b"])
      try await update(server, ["id": "b", "text": "2"])
      let arguments = "(lastSync: \(since), filter: {text: {ne: \"2\"}})"
      let delta = try await page("eve red", port, arguments)["items"]
      // The one that the filter no longer selects is as gone as those that the rules no longer show.
      #expect(delta?.array?.compactMap { $0["id"]?.string }.sorted() == ["a", "b", "c"])
      #expect(delta?.array?.allSatisfy { $0["_deleted"] == true && $0["text"] == "0" } == true, "\(delta ?? .null)")
      // Another caller's token shows it nothing more.
      let foreign = try await RuleFixture.data(
        "{ syncNotes(limit: 1) { nextToken } }", as: "ada", port)["syncNotes"]?["nextToken"]?.string
      #expect(try await page("eve red", port, "(nextToken: \"\(try #require(foreign))\")")["items"]?.array?.count == 1)
    }
  }

  @Test func `a sync follows the relations that a list follows, also by fields that the caller does not see`()
    async throws
  {
    let schema = """
      type Folder @model @versioned @auth(rules: [{allow: private}]) {
        id: ID!
        keeper: String @auth(rules: [{allow: groups, groups: ["staff"]}])
        papers: [Paper] @hasMany(references: ["folderID"]) @auth(rules: [{allow: owner, ownerField: "keeper"}])
      }
      type Paper @model @versioned @auth(rules: [{allow: private}]) {
        id: ID!
        folderID: ID
        folder: Folder @belongsTo(references: ["folderID"])
      }
      """
    try await RuleFixture.with(schema) { server in
      _ = try await server.transaction { transaction in
        for (id, keeper) in [("a", "ada"), ("b", "bob")] {
          try transaction.create("Folder", ["id": .string(id), "keeper": .string(keeper)])
          try transaction.create("Paper", ["id": .string(id), "folderID": .string(id)])
        }
      }
      let items = "{ items { id keeper papers { items { id } } } }"
      let data = try await RuleFixture.data("{ listFolders \(items) syncFolders \(items) }", as: "ada", server.port)
      #expect(data["syncFolders"] == data["listFolders"])
      #expect(data["syncFolders"]?["items"]?[0]?["papers"] == ["items": [["id": "a"]]])
      #expect(data["syncFolders"]?["items"]?[0]?["keeper"] == .null)
      #expect(data["syncFolders"]?["items"]?[1]?["papers"] == ["items": []])
    }
  }
}
