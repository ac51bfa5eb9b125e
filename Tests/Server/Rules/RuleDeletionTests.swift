import MartletJSON
import MartletServer
import Testing

/// What a deletion, and a write that another record stands in the way of, say about records that the caller does not
/// see.
@Suite(.timeLimit(.minutes(1))) struct RuleDeletionTests {
  private static func schema(_ action: String) -> String {
    """
    type Post @model @auth(rules: [{allow: private, operations: [read]}, {allow: groups, groups: ["staff"]}]) {
      id: ID!
      title: String
      comments: [Comment] @hasMany(references: ["postID"], onDelete: \(action))
    }
    type Comment @model @auth(rules: [{allow: owner}, {allow: groups, groups: ["readers"], operations: [read]}]) {
      id: ID!
      text: String
      postID: ID
    }
    """
  }

  private static func fill(_ server: GraphQLServer) async throws {
    _ = try await server.transaction { transaction in
      try transaction.create("Post", ["id": "p", "title": "first"])
      for owner in ["ada", "bob"] {
        try transaction.create(
          "Comment", ["id": .string("key of \(owner)"), "text": "t", "owner": .string(owner), "postID": "p"])
      }
    }
  }

  private static let delete = #"mutation { deletePost(input: {id: "p"}) { id comments { items { id text } } } }"#

  @Test func `a deletion that a relation forbids neither names nor counts records that its caller does not see`()
    async throws
  {
    try await RuleFixture.with(Self.schema("RESTRICT")) { server in
      try await Self.fill(server)
      let refused = try await RuleFixture.post(Self.delete, as: "eve staff", server.port)
      #expect(refused["errors"]?[0]?["extensions"]?["code"] == "REFERENCED", "\(refused)")
      #expect(refused["errors"]?[0]?["extensions"]?["data"] == .null)
      #expect(!"\(refused)".contains("key of"), "\(refused)")
      #expect(refused["errors"]?[0]?["message"] == "The record cannot be deleted while others refer to it.")
      // The refusal names one of them to a caller that sees them all.
      let named = try await RuleFixture.post(Self.delete, as: "eve staff readers", server.port)
      #expect("\(named)".contains("2 Comment records") && "\(named)".contains("key of"), "\(named)")
      // A caller that sees some of them does not learn of the others.
      let some = try await RuleFixture.post(Self.delete, as: "ada staff", server.port)
      #expect(!"\(some)".contains("bob"), "\(some)")
      #expect(some["errors"]?[0]?["message"] == refused["errors"]?[0]?["message"])
    }
  }

  @Test func `a refusal that is remembered says no more to its caller when it is asked for again`() async throws {
    try await RuleFixture.with(Self.schema("RESTRICT")) { server in
      try await Self.fill(server)
      let number: JSONObject = ["martlet": ["write": ["client": "phone", "number": 1]]]
      for _ in 0..<2 {
        let refused = try await RuleFixture.post(Self.delete, as: "eve staff", server.port, extensions: number)
        #expect(refused["errors"]?[0]?["extensions"]?["code"] == "REFERENCED", "\(refused)")
        #expect(!"\(refused)".contains("key of"), "\(refused)")
      }
    }
  }

  @Test(arguments: [("CASCADE", "onDeleteComment"), ("SET_NULL", "onUpdateComment")])
  func `what follows from a deletion is shown to the callers that see it, and not to the one that deletes`(
    action: String, event: String
  ) async throws {
    try await RuleFixture.with(Self.schema(action)) { server in
      let port = server.port
      try await Self.fill(server)
      let query = "subscription { \(event) { id text owner } }"
      var sockets: [RawSocket] = []
      for caller in ["ada", "bob", "eve staff", "dan readers"] {
        let socket = try await RuleFixture.socket(as: caller, port)
        socket.subscribe("1", query)
        _ = try await socket.message("ready")
        sockets.append(socket)
      }
      let answer = try await RuleFixture.post(Self.delete, as: "eve staff", port)
      #expect(answer["data"]?["deletePost"]?["id"] == "p", "\(answer)")
      #expect(!"\(answer)".contains("key of"), "\(answer)")
      // A change of the deleting caller's own comes after them: nothing has come before it.
      _ = try await server.transaction { transaction in
        try transaction.create("Comment", ["id": "own", "owner": "eve", "text": "t"])
        if action == "CASCADE" {
          try transaction.delete("Comment", ["id": "own"])
        } else {
          _ = try transaction.update("Comment", ["id": "own", "text": "u"])
        }
      }
      func heard(_ socket: RawSocket) async throws -> String? {
        try await socket.message("next")["payload"]?["data"]?[event]?["id"]?.string
      }
      #expect(try await heard(sockets[0]) == "key of ada")
      #expect(try await heard(sockets[1]) == "key of bob")
      #expect(try await heard(sockets[2]) == "own")
      var seen: Set<String?> = []
      for _ in 0..<3 { seen.insert(try await heard(sockets[3])) }
      #expect(seen == ["key of ada", "key of bob", "own"])
      for socket in sockets { socket.abort() }
    }
  }

  @Test func `a value that is taken in a hidden field does not say by which record`() async throws {
    let schema = """
      type User @model @auth(rules: [{allow: owner}, {allow: private, operations: [read]}]) {
        id: ID!
        profileID: ID @auth(rules: [{allow: owner}])
        profile: Profile @hasOne(fields: ["profileID"]) @auth(rules: [{allow: owner}])
      }
      type Profile @model @auth(rules: [{allow: private}]) { id: ID! }
      """
    try await RuleFixture.with(schema) { server in
      let port = server.port
      func create(_ id: String, _ caller: String) async throws -> JSONValue {
        try await RuleFixture.post(
          "mutation { createUser(input: {id: \"\(id)\", profileID: \"shared\"}) { id } }", as: caller, port)
      }
      #expect(try await create("holder", "ada")["errors"] == nil)
      // A caller that sees the value in the other record is refused by its name.
      let own = try await create("second", "ada")
      #expect(own["errors"]?[0]?["extensions"]?["code"] == "NOT_UNIQUE" && "\(own)".contains("holder"), "\(own)")
      let refused = try await create("other", "bob")
      #expect(refused["errors"]?[0]?["extensions"]?["code"] == "FORBIDDEN", "\(refused)")
      #expect(!"\(refused)".contains("holder"), "\(refused)")
      _ = try await RuleFixture.data(#"mutation { createUser(input: {id: "other"}) { id } }"#, as: "bob", port)
      let moved = try await RuleFixture.post(
        #"mutation { updateUser(input: {id: "other", profileID: "shared"}) { id } }"#, as: "bob", port)
      #expect(moved["errors"]?[0]?["extensions"]?["code"] == "FORBIDDEN", "\(moved)")
      #expect(!"\(moved)".contains("holder"), "\(moved)")
    }
  }
}
