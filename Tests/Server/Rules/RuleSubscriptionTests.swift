import MartletJSON
import MartletServer
import Testing

/// Which changes rules let callers follow.
@Suite(.timeLimit(.minutes(1))) struct RuleSubscriptionTests {
  private static let everything = """
    subscription { onUpdateNote { id text rank audit } }
    """

  private static func live(_ caller: String, _ query: String, _ port: Int) async throws -> RawSocket {
    let socket = try await RuleFixture.socket(as: caller, port)
    socket.subscribe("1", query)
    _ = try await socket.message("ready")
    return socket
  }

  @Test func `an event reaches the callers whose rules show the record after it, without the fields they hide`()
    async throws
  {
    try await RuleFixture.with { server in
      let port = server.port
      _ = try await server.transaction { transaction in
        try transaction.create(
          "Note", ["id": "a", "text": "0", "owner": "ada", "team": "red", "rank": 3, "audit": "ok"])
      }
      let ada = try await Self.live("ada", Self.everything, port)
      let red = try await Self.live("eve red", Self.everything, port)
      let bob = try await Self.live("bob", Self.everything, port)
      func update(_ values: JSONObject) async throws {
        var values = values
        values["id"] = "a"
        let given = values
        _ = try await server.transaction { _ = try $0.update("Note", given) }
      }
      func heard(_ socket: RawSocket) async throws -> JSONValue? {
        try await socket.message("next")["payload"]?["data"]?["onUpdateNote"]
      }
      try await update(["text": "1"])
      #expect(try await heard(ada) == ["id": "a", "text": "1", "rank": 3, "audit": .null])
      #expect(try await heard(red) == ["id": "a", "text": "1", "rank": .null, "audit": .null])
      // The record changes hands and team: the next events are for its new owner alone.
      try await update(["text": "2", "owner": "bob", "team": "blue"])
      try await update(["text": "3"])
      #expect(try await heard(bob) == ["id": "a", "text": "2", "rank": 3, "audit": .null])
      #expect(try await heard(bob)?["text"] == "3")
      try await update(["text": "4", "owner": "ada", "team": "red"])
      #expect(try await heard(ada)?["text"] == "4")
      #expect(try await heard(red)?["text"] == "4")
      for socket in [ada, red, bob] { socket.abort() }
    }
  }

  @Test func `an owner argument of another caller is refused, and so is a subscription that no rule allows`()
    async throws
  {
    try await RuleFixture.with { server in
      let socket = try await RuleFixture.socket(as: "ada", server.port)
      socket.subscribe("other", #"subscription { onCreateNote(owner: "bob") { id } }"#)
      let error = try await socket.message("error")
      #expect(error["payload"]?[0]?["extensions"]?["code"] == "FORBIDDEN")
      socket.subscribe("closed", "subscription { onCreateVault { id } }")
      #expect(try await socket.message("error")["id"] == "closed")
      socket.subscribe("probe", #"subscription { onCreateNote(filter: {audit: {eq: "x"}}) { id } }"#)
      #expect(try await socket.message("error")["id"] == "probe")
      socket.subscribe("own", #"subscription { onCreateNote(owner: "ada") { id } }"#)
      #expect(try await socket.message("ready")["id"] == "own")
      socket.abort()
    }
  }

  @Test(arguments: Talk.all)
  func `neither events nor their absence say anything about a hidden value, whatever the filter, in every dialect`(
    talk: Talk
  ) async throws {
    try await RuleFixture.with { server in
      let caller: JSONObject = ["host": "api.example", "Authorization": "eve red"]
      let socket = try await talk.open(server.port, authorization: caller)
      let hello = talk.initialise(["authToken": "eve red"])
      socket.send(hello)
      _ = try await socket.message("connection_ack")
      for (id, filter) in [("probe", #"audit: {eq: "x"}"#), ("eq", "rank: {eq: 3}"), ("ne", "rank: {ne: 3}")] {
        let query = "subscription { onCreateNote(filter: {\(filter)}) { id rank } }"
        socket.send(talk.start(id, query, extensions: ["authorization": .object(caller)]))
      }
      // Nothing else confirms a subscription of the older protocol.
      if talk.dialect == .graphqlWS { socket.send(hello) }
      var confirmed = 0
      while confirmed < (talk.dialect == .graphqlWS ? 2 : 3) {
        let message = try await socket.message()
        if message["type"] == "error" { #expect(message["id"] == "probe") }
        if ["error", "ready", "start_ack", "connection_ack"].contains(message["type"]?.string) { confirmed += 1 }
      }
      for (id, owner, rank) in [("a", "ada", 3), ("b", "ada", 4), ("c", "eve", 3)] {
        _ = try await server.transaction {
          try $0.create("Note", ["id": .string(id), "owner": .string(owner), "team": "red", "rank": .int(Int64(rank))])
        }
      }
      var seen: [String] = []
      for _ in 0..<3 {
        let event = try await socket.message(talk.event)
        let note = event["payload"]?["data"]?["onCreateNote"]
        seen.append("\(event["id"]?.string ?? "") \(note?["id"]?.string ?? "") \(note?["rank"] ?? "")")
      }
      #expect(seen == ["ne a null", "ne b null", "eq c 3"])
      socket.abort()
    }
  }

  @Test func `relations in a subscription's events are read by the rules of each caller`() async throws {
    try await RuleFixture.with { server in
      let port = server.port
      _ = try await server.transaction { transaction in
        try transaction.create("Folder", ["id": "f", "name": "first"])
        try transaction.create("Note", ["id": "a", "owner": "ada", "folderID": "f"])
      }
      let query = "subscription { onUpdateFolder { name notes { items { id } } } }"
      let reader = try await Self.live("eve readers", query, port)
      let ada = try await Self.live("ada", query, port)
      _ = try await server.transaction { _ = try $0.update("Folder", ["id": "f", "name": "second"]) }
      let seen = try await reader.message("next")["payload"]?["data"]?["onUpdateFolder"]
      #expect(RuleFixture.ids(seen?["notes"]) == ["a"] && seen?["name"] == "second")
      let own = try await ada.message("next")["payload"]?["data"]?["onUpdateFolder"]
      #expect(RuleFixture.ids(own?["notes"]) == [] && own?["name"] == "second")
      for socket in [reader, ada] { socket.abort() }
    }
  }

  @Test func `a resume replays what the rules showed at each change, and nothing else`() async throws {
    try await RuleFixture.with { server in
      let port = server.port
      let ada = try await RuleFixture.socket(as: "ada", port)
      ada.subscribe("1", Self.everything)
      let ready = try await ada.message("ready")
      let (cursor, view) = (try #require(ready["cursor"]?.string), try #require(ready["view"]?.string))
      ada.abort()
      _ = try await server.transaction { transaction in
        try transaction.create("Note", ["id": "a", "text": "0", "owner": "ada", "rank": 1])
        try transaction.create("Note", ["id": "b", "text": "0", "owner": "bob", "rank": 2])
        try transaction.update("Note", ["id": "b", "text": "hidden"])
        try transaction.update("Note", ["id": "a", "text": "seen"])
      }
      let back = try await RuleFixture.socket(as: "ada", port)
      back.subscribe("1", Self.everything, resume: cursor, view: view)
      #expect(try await back.message()["payload"]?["data"]?["onUpdateNote"]?["text"] == "seen")
      #expect(try await back.message()["type"] == "ready")
      back.abort()
    }
  }

  @Test func `an event is evaluated once for each outcome of the rules, however many callers share it`() async throws {
    // No field has rules of its own, by which callers who see the same records would see different values.
    let schema = """
      type Note @model @auth(rules: [{allow: owner}, {allow: groups, groups: ["readers"], operations: [read]}]) {
        id: ID!
        text: String
      }
      """
    let server = try CountedServer(schema: schema) { configuration in
      configuration.access = .onConnect()
      configuration.onConnect = RuleFixture.question
    }
    var sockets: [RawSocket] = []
    for number in 0..<8 {
      // Half of them see everything, the others only what is their own.
      let caller = number % 2 == 0 ? "reader\(number) readers" : "owner\(number)"
      sockets.append(try await Self.live(caller, "subscription { onCreateNote { id text } }", server.port))
    }
    let before = await server.counts()
    let own = [("Authorization", "owner3")]
    _ = try await HTTPRequest.graphql(
      #"mutation { createNote(input: {id: "a", text: "x"}) { id } }"#, port: server.port, headers: own)
    for (number, socket) in sockets.enumerated() where number % 2 == 0 || number == 3 {
      #expect(try await socket.message("next")["payload"]?["data"]?["onCreateNote"]?["id"] == "a")
    }
    let work = await server.counts() - before
    #expect(work[.payloadEncodings] == 2)
    #expect(work[.deliveries] == 5)
    for socket in sockets { socket.abort() }
    await server.stop()
  }
}
