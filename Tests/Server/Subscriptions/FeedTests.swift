import MartletGraphQLExecution
import MartletJSON
import MartletServer
import MartletStore
import Synchronization
import Testing

/// What subscriptions can select and follow beyond the changed record itself.
@Suite(.timeLimit(.minutes(1))) struct FeedTests {
  private static let board = """
    type Airport @model { id: ID! name: String! flights: [Flight] @hasMany(indexName: "byAirport", fields: ["id"]) }
    type Flight @model {
      id: ID! number: String! airportID: ID @index(name: "byAirport")
      airport: Airport @belongsTo(fields: ["airportID"])
    }
    """

  private static func mutate(_ text: String, _ server: GraphQLServer) async throws {
    let answer = try await HTTPRequest.graphql("mutation { \(text) }", port: server.port)
    try #require(answer.json["errors"] == nil, "\(answer.text)")
  }

  @Test func `a selection that follows relations is evaluated once per event, in order, for all members`() async throws
  {
    try await Served.with(Self.board) { server in
      try await Self.mutate(#"createAirport(input: {id: "ORY", name: "Orly"}) { id }"#, server)
      let query = "subscription { onCreateFlight { number airport { name flights { items { number } } } } }"
      var sockets: [RawSocket] = []
      for _ in 0..<3 {
        let socket = try await RawSocket.session(port: server.port)
        socket.subscribe("1", query)
        _ = try await socket.message("ready")
        sockets.append(socket)
      }
      for number in 1...5 {
        try await Self.mutate(#"createFlight(input: {number: "\#(number)", airportID: "ORY"}) { id }"#, server)
      }
      for socket in sockets {
        for number in 1...5 {
          let flight = try await socket.message("next")["payload"]?["data"]?["onCreateFlight"]
          #expect(flight?["number"]?.string == "\(number)")
          #expect(flight?["airport"]?["name"] == "Orly")
          #expect((flight?["airport"]?["flights"]?["items"]?.array?.count ?? 0) >= number)
        }
      }
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      #expect(metrics.contains("\nmartlet_feed_payload_encodings_total 5\n"))
      #expect(metrics.contains("\nmartlet_feed_deliveries_total 15\n"))
      for socket in sockets { socket.abort() }
    }
  }

  @Test func `a resumed subscription with relations gets what it missed, once`() async throws {
    try await Served.with(Self.board) { server in
      try await Self.mutate(#"createAirport(input: {id: "ORY", name: "Orly"}) { id }"#, server)
      let query = "subscription { onCreateFlight { number airport { name } } }"
      let first = try await RawSocket.session(port: server.port)
      first.subscribe("1", query)
      let cursor = try await first.message("ready")["cursor"]?.string
      first.abort()
      for number in 1...20 {
        try await Self.mutate(#"createFlight(input: {number: "\#(number)", airportID: "ORY"}) { id }"#, server)
      }
      let second = try await RawSocket.session(port: server.port)
      second.subscribe("1", query, resume: cursor)
      for number in 1...20 {
        let next = try await second.message()
        #expect(next["payload"]?["data"]?["onCreateFlight"]?["number"]?.string == "\(number)")
        #expect(next["payload"]?["data"]?["onCreateFlight"]?["airport"]?["name"] == "Orly")
      }
      #expect(try await second.message()["type"] == "ready")
      second.abort()
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [1 << 10, 64 << 20])
  func `P2: a client that resumes many windows late is served to the end, from the log or from memory`(ring: Int)
    async throws
  {
    try await Served.with(
      "type Note @model { id: ID! number: Int! text: String }", { $0.limits.store.ringBytes = ring }
    ) {
      server in
      let first = try await RawSocket.session(port: server.port)
      first.subscribe("1", "subscription { onCreateNote { id } }")
      let start = try await first.message("ready")["cursor"]?.string
      first.abort()
      let text = JSONValue.string(String(repeating: "x", count: 2_000))
      for block in 0..<20 {
        try await server.transaction { transaction in
          for number in 0..<100 {
            try transaction.create("Note", ["number": .int(Int64(block * 100 + number)), "text": text])
          }
        }
      }
      for _ in 0..<5 {
        let socket = try await RawSocket.session(port: server.port)
        socket.subscribe("1", "subscription { onCreateNote { number text } }", resume: start)
        for number in 0..<2_000 as Range<Int64> {
          let next = try await socket.message()
          #expect(next["payload"]?["data"]?["onCreateNote"]?["number"]?.int == number)
        }
        #expect(try await socket.message()["type"] == "ready")
        socket.abort()
      }
    }
  }

  @Test func `documents that differ in spaces, comments and commas share one group; aliases and variables part them`()
    async throws
  {
    try await Served.with(Self.board) { server in
      let socket = try await RawSocket.session(port: server.port)
      let documents = [
        "subscription { onCreateFlight { id number } }", "subscription{onCreateFlight{id,number}}",
        "# a comment\nsubscription {\n  onCreateFlight { id number }\n}",
        "subscription { onCreateFlight { id n: number } }",
        "subscription { onCreateFlight { ...F } } fragment F on Flight { id number }",
        "subscription S($n: String) { onCreateFlight(filter: {number: {eq: $n}}) { id } }",
      ]
      for (index, document) in documents.enumerated() {
        socket.subscribe("\(index)", document, variables: index == 5 ? ["n": "7"] : [:])
        _ = try await socket.message("ready")
      }
      socket.subscribe("6", documents[5], variables: ["n": "7"])
      _ = try await socket.message("ready")
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      #expect(metrics.contains("\nmartlet_subscriptions 7\n"))
      #expect(metrics.contains("\nmartlet_subscription_groups 4\n"))
      try await Self.mutate(#"createFlight(input: {id: "f", number: "7"}) { id }"#, server)
      var seen: [String: JSONValue] = [:]
      for _ in 0..<7 {
        let next = try await socket.message("next")
        seen[next["id"]?.string ?? ""] = next["payload"]?["data"]?["onCreateFlight"]
      }
      for id in ["0", "1", "2", "4"] { #expect(seen[id] == ["id": "f", "number": "7"]) }
      #expect(seen["3"] == ["id": "f", "n": "7"])
      for id in ["5", "6"] { #expect(seen[id] == ["id": "f"]) }
      socket.abort()
    }
  }

  // MARK: The application's own events

  private static let alerts = """
    type Query { hello: String }
    type Alert { text: String! level: Int }
    type Subscription { alert(level: Int): Alert }
    """

  private static func withAlerts(
    _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }, _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      alerts,
      {
        $0.topics = ["alert": "alerts"]
        $0.resolvers = { $0.resolve("Query", "hello") { _ in "hi" } }
        try adjust(&$0)
      }, body)
  }

  @Test func `published events have cursors, are filtered by their arguments, and resume`() async throws {
    try await Self.withAlerts { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("all", "subscription { alert { text level } }")
      let start = try await socket.message("ready")["cursor"]?.string
      socket.subscribe("two", "subscription { alert(level: 2) { text } }")
      _ = try await socket.message("ready")
      for level in 1...3 as ClosedRange<Int64> {
        try await server.publish(topic: "alerts", payload: ["text": .string("t\(level)"), "level": .int(level)])
      }
      var seen: [String] = []
      for _ in 0..<4 {
        let next = try await socket.message("next")
        #expect(next["cursor"] != nil)
        seen.append("\(next["id"]?.string ?? "") \(next["payload"]?["data"]?["alert"]?["text"]?.string ?? "")")
      }
      #expect(seen.filter { $0.hasPrefix("all") } == ["all t1", "all t2", "all t3"])
      #expect(seen.filter { $0.hasPrefix("two") } == ["two t2"])
      socket.abort()
      let again = try await RawSocket.session(port: server.port)
      again.subscribe("1", "subscription { alert { text } }", resume: start)
      for level in 1...3 {
        #expect(try await again.message()["payload"]?["data"]?["alert"]?["text"]?.string == "t\(level)")
      }
      #expect(try await again.message()["type"] == "ready")
      again.abort()
    }
  }

  @Test func `P4: a cursor beyond retention gets one gap with both ends and its reason, then continues`() async throws {
    try await Self.withAlerts({
      $0.limits.store.retentionBytes = 2_000
      $0.limits.store.retention = .zero
      $0.limits.store.ringBytes = 1_000
    }) { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription { alert { text } }")
      let start = try await socket.message("ready")["cursor"]?.string
      socket.abort()
      let text = String(repeating: "x", count: 300)
      for _ in 0..<60 { try await server.publish(topic: "alerts", payload: ["text": .string(text)]) }
      server.node.store.maintain()
      try await server.publish(topic: "alerts", payload: ["text": "before"])
      let again = try await RawSocket.session(port: server.port)
      again.subscribe("1", "subscription { alert { text } }", resume: start)
      let gap = try await again.message()
      #expect(gap["type"] == "gap" && gap["reason"] == "retention")
      #expect(gap["from"]?.string == start && gap["to"]?.string != nil)
      let ready = try await again.message()
      #expect(ready["type"] == "ready" && ready["cursor"] == gap["to"])
      try await server.publish(topic: "alerts", payload: ["text": "after"])
      #expect(try await again.message()["payload"]?["data"]?["alert"]?["text"] == "after")
      again.abort()
    }
  }

  @Test func `P4: a cursor of another server's log gets one gap of lineage`() async throws {
    try await Self.withAlerts { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription { alert { text } }", resume: "1-0")
      let gap = try await socket.message()
      #expect(gap["type"] == "gap" && gap["reason"] == "lineage" && gap["from"] == "1-0")
      #expect(try await socket.message()["type"] == "ready")
      socket.abort()
    }
  }
}
