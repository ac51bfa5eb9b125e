import MartletJSON
import MartletServer
import Testing

/// Records of models as a read-only part of the tree, under the rules of both.
@Suite(.timeLimit(.minutes(1))) struct RecordTreeTests {
  private static let schema = """
    type Note @model @auth(rules: [{allow: owner}, {allow: groups, groups: ["readers"], operations: [read]}]) {
      id: ID! text: String rank: Int @auth(rules: [{allow: owner}]) tags: [String]
    }
    type Seat @model @auth(rules: [{allow: private}]) {
      row: Int! @primaryKey(sortKeyFields: ["letter"]) letter: String! taken: Boolean
    }
    type Vault @model @auth(rules: [{allow: groups, groups: ["staff"]}]) { id: ID! text: String }
    """
  private static let rules = """
    {"rules": {".write": true, "open": {".read": true}, "models": {".read": "auth != null"}}}
    """

  private func serve(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await Served.with(
      Self.schema,
      { configuration in
        configuration.treeRules = Self.rules
        configuration.access = .onConnect()
        configuration.onConnect = { request in
          let shown = request.payload["Authorization"]?.string ?? ""
          let words = shown.split(separator: " ").map(String.init).filter { $0 != "Bearer" }
          guard let name = words.first else { return .accept() }
          return .accept(as: Identity(provider: .function, subject: name, groups: Array(words.dropFirst())))
        }
      }
    ) { server in
      _ = try await server.transaction { transaction in
        try transaction.create(
          "Note", ["id": "a", "text": "first", "owner": "ada", "rank": 3, "tags": ["x", "y"]])
        try transaction.create("Note", ["id": "b.c/d%", "text": "second", "owner": "bob"])
        try transaction.create("Seat", ["row": 12, "letter": "A,B", "taken": true])
        try transaction.create("Vault", ["id": "v", "text": "secret"])
      }
      try await body(server)
    }
  }

  private func get(_ target: String, as caller: String?, _ server: GraphQLServer) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      "GET", target, port: server.port, headers: caller.map { [("Authorization", $0)] } ?? [], body: nil)
  }

  private func peer(_ caller: String, _ server: GraphQLServer) async throws -> TreePeer {
    let peer = try await TreePeer(port: server.port)
    try await peer.ok("auth", ["cred": .string(caller)])
    return peer
  }

  @Test func `a record is read below its model by its key, with the fields that its rules show`() async throws {
    try await serve { server in
      let mine = try await get("/models/Note/a.json", as: "ada", server).json
      #expect(mine["text"] == "first")
      #expect(mine["rank"] == 3)
      #expect(mine["tags"] == ["x", "y"])
      let read = try await get("/models/Note/a.json", as: "eve readers", server).json
      #expect(read["text"] == "first")
      #expect(read["rank"] == nil)
      #expect(try await get("/models/Note/a/text.json", as: "ada", server).json == "first")
      #expect(try await get("/models/Note/b%252Ec%252Fd%2525/text.json", as: "bob", server).json == "second")
      #expect(try await get("/models/Seat/12,A%252CB/taken.json", as: "ada", server).json == true)
      #expect(try await get("/models/Seat/12.json", as: "ada", server).json == .null)
      #expect(try await get("/models/Other/a.json", as: "ada", server).json == .null)
    }
  }

  @Test func `a node of records has those that the caller may read, and both kinds of rules are asked`() async throws {
    try await serve { server in
      #expect(try await get("/models/Note.json?shallow=true", as: "ada", server).json == ["a": true])
      let all = try await get("/models/Note.json?shallow=true", as: "eve readers", server).json
      #expect(all == ["a": true, "b%2Ec%2Fd%25": true])
      // Another's record does not exist, and looks like one that never did.
      #expect(try await get("/models/Note/a.json", as: "bob", server).json == .null)
      #expect(try await get("/models/Vault.json", as: "ada", server).status == 401)
      #expect(try await get("/models/Vault/v.json", as: "ada", server).status == 401)
      #expect(try await get("/models/Vault/v/text.json", as: "sam staff", server).json == "secret")
      let models = try await get("/models.json?shallow=true", as: "ada", server).json
      #expect(models == ["Note": true, "Seat": true])
      // The tree's own rule refuses a guest.
      #expect(try await get("/models/Seat.json", as: nil, server).status == 401)
      let window = "/models/Note.json?orderBy=%22text%22&limitToLast=1"
      #expect(try await get(window, as: "eve readers", server).json["b%2Ec%2Fd%25"]?["text"] == "second")
    }
  }

  @Test func `a write to records is refused by every way, and one beside them is made`() async throws {
    try await serve { server in
      func send(_ method: String, _ target: String, _ body: String?) async throws -> HTTPRequest.Answer {
        try await HTTPRequest.send(method, target, port: server.port, headers: [("Authorization", "ada")], body: body)
      }
      for (method, target, body) in [
        ("PUT", "/models/Note/a/text.json", "1"), ("DELETE", "/models/Note/a.json", nil),
        ("PATCH", "/.json", #"{"open/x": 1, "models/Note/z": {"text": "t"}}"#),
        ("PUT", "/.json", #"{"models": {"x": 1}}"#), ("POST", "/models.json", "1"),
      ] as [(String, String, String?)] {
        let answer = try await send(method, target, body)
        #expect(answer.status == 400, "\(method) \(target)")
        #expect(answer.json["error"]?.string?.contains("/models") == true, "\(answer.text)")
      }
      let ada = try await peer("ada", server)
      let refused = try await ada.answer(ada.send("p", ["p": "/models/Note/a", "d": nil]))
      #expect(refused["s"] == "invalid_data")
      let left = try await ada.answer(ada.send("o", ["p": "/models/Note/a", "d": nil]))
      #expect(left["s"] == "invalid_data")
      #expect(try await send("PUT", "/open/x.json", "1").status == 200)
      #expect(try await get("/models/Note/a/text.json", as: "ada", server).json == "first")
    }
  }

  @Test func `listeners are shown the changes of records that they may see, and nothing of others`() async throws {
    try await serve { server in
      let (ada, bob) = (try await peer("ada", server), try await peer("bob", server))
      #expect(try await ada.listen("/models/Note/a/text") == "first")
      #expect(try await bob.listen("/models/Note")["b%2Ec%2Fd%25"]?["text"] == "second")
      func update(_ values: JSONObject) async throws {
        _ = try await server.transaction { _ = try $0.update("Note", values) }
      }
      try await update(["id": "a", "text": "1"])
      #expect(try await ada.push() == TreePeer.Push("d", ["p": "models/Note/a/text", "d": "1"]))
      // The record is bob's from now on, and then ada's again; its deletion is of no concern to bob.
      try await update(["id": "a", "text": "2", "owner": "bob"])
      let entered = try await bob.push()
      #expect(entered.body["p"] == "models/Note/a")
      #expect(entered.body["d"]?["text"] == "2")
      #expect(try await ada.push().body["d"] == .null)
      try await update(["id": "a", "text": "3", "owner": "ada"])
      #expect(try await bob.push() == TreePeer.Push("d", ["p": "models/Note/a", "d": nil]))
      #expect(try await ada.push().body["d"] == "3")
      _ = try await server.transaction { _ = try $0.delete("Note", ["id": "a"]) }
      #expect(try await ada.push().body["d"] == .null)
      _ = try await server.transaction { try $0.create("Note", ["id": "e", "text": "mine", "owner": "bob"]) }
      #expect(try await bob.push().body["p"] == "models/Note/e")
    }
  }

  @Test func `a client with another credential is shown the records of its new caller`() async throws {
    try await serve { server in
      let client = try await peer("ada", server)
      #expect(try await client.listen("/models/Note")["a"]?["text"] == "first")
      // The answer to the credential and the value may come in either order.
      let request = client.send("auth", ["cred": "bob"])
      var (isAnswered, value): (Bool, JSONValue?) = (false, nil)
      while !isAnswered || value == nil {
        let data = try await client.socket.message()["d"] ?? .null
        if data["r"]?.int == Int64(request) { isAnswered = true }
        if data["a"] == "d" { value = data["b"]?["d"] }
      }
      #expect(value?["a"] == nil)
      #expect(value?["b%2Ec%2Fd%25"]?["text"] == "second")
    }
  }

  @Test func `a window of records is shown what enters and leaves it`() async throws {
    try await serve { server in
      let bob = try await peer("bob readers", server)
      let query: JSONValue = ["p": "/models/Note", "h": "", "t": 1, "q": ["i": ".key", "l": 1, "vf": "r"]]
      let request = bob.send("q", query)
      #expect(try await bob.push().body["d"]?["b%2Ec%2Fd%25"]?["text"] == "second")
      #expect(try await bob.answer(request)["s"] == "ok")
      _ = try await server.transaction { try $0.create("Note", ["id": "z", "text": "last", "owner": "ada"]) }
      let push = try await bob.push()
      #expect(push.action == "m")
      #expect(push.body["d"]?["b%2Ec%2Fd%25"] == .null)
      #expect(push.body["d"]?["z"]?["text"] == "last")
    }
  }
}
