import MartletJSON
import MartletServer
import Testing

/// What operations are estimated to cost, as responses say it.
@Suite(.timeLimit(.minutes(1))) struct CostTests {
  private static let schema = """
    type Page @model { id: ID! title: String links: [Link] @hasMany }
    type Link @model { id: ID! text: String page: Page @belongsTo }
    """

  private static func cost(_ response: JSONValue?) -> JSONValue? { response?["extensions"]?["martlet"]?["cost"] }

  private static func estimate(_ document: String, _ port: Int) async throws -> Int64? {
    cost(try await HTTPRequest.graphql(document, port: port).json)?["estimated"]?.int
  }

  @Test func `a response says its operation's cost by every door, where the server shows it`() async throws {
    try await Served.with(Self.schema, { $0.showsCost = true }) { server in
      let answer = try await HTTPRequest.graphql("{ listPages(limit: 3) { items { id title } } }", port: server.port)
      // The field, its list, and two fields of each record.
      let expected: JSONValue = ["estimated": 8, "allowed": 250_000]
      #expect(Self.cost(answer.json) == expected, "\(answer.text)")
      let list = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port, headers: [("Content-Type", "application/json")],
        body: #"[{"query":"{ listPages(limit: 3) { items { id title } } }"}]"#)
      #expect(Self.cost(list.json[0]) == expected, "\(list.text)")
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "{ listPages(limit: 3) { items { id title } } }")
      let next = try await socket.message("next")
      #expect(Self.cost(next["payload"]) == expected, "\(next)")
      socket.abort()
    }
  }

  @Test func `a page size multiplies once, at every depth`() async throws {
    try await Served.with(Self.schema, { $0.showsCost = true }) { server in
      func nested(_ depth: Int, _ limit: String) -> String {
        guard depth > 0 else { return "id" }
        return "links\(limit) { items { page { \(nested(depth - 1, limit)) } } }"
      }
      let port = server.port
      var costs: [Int64] = []
      for depth in 1...5 {
        let document = "{ getPage(id: \"x\") { \(nested(depth, "(limit: 2)")) } }"
        costs.append(try #require(try await Self.estimate(document, port)))
      }
      // Each level: the field, the list, and for two records the field `page` and what is below it.
      var expected: [Int64] = []
      var below: Int64 = 1
      for _ in 1...5 {
        below = 1 + 1 + 2 * (1 + below)
        expected.append(1 + below)
      }
      #expect(costs == expected)
      // A smaller page is never dearer than the usual one.
      let usual = try #require(try await Self.estimate("{ getPage(id: \"x\") { \(nested(3, "")) } }", port))
      #expect(costs[2] <= usual)
    }
  }

  @Test func `a page size that a variable gives counts as one that is written out, by every door`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.showsCost = true
        $0.limits.query.complexity = 1_000
        $0.limits.query.largestPage = 50
      }
    ) { server in
      let document = "query($n: Int = 3) { listPages(limit: $n) { items { links(limit: $n) { items { id } } } } }"
      func ask(_ variables: JSONObject) async throws -> JSONValue {
        try await HTTPRequest.graphql(document, port: server.port, variables: variables).json
      }
      // The field and its list; for each record the relation, its list, and the records' ids.
      func expected(_ size: Int64) -> JSONValue {
        ["estimated": .int(2 + size * (2 + size)), "allowed": 1_000]
      }
      for size: Int64 in [1, 2, 30] { #expect(Self.cost(try await ask(["n": .int(size)])) == expected(size)) }
      #expect(Self.cost(try await ask([:])) == expected(3))
      // A page has no more than the server's largest, whatever is asked for.
      let refused = try await ask(["n": 1_000_000])
      let message = "The anonymous operation is too complex: its estimated cost is 2602, at most 1000 is allowed."
      #expect(refused["errors"]?[0]?["message"]?.string == message, "\(refused)")
      #expect(refused["data"] == nil, "\(refused)")
      let socket = try await RawSocket.session(port: server.port)
      let links = "links(limit: $n) { items { page { links(limit: $n) { items { id } } } } }"
      for text in [document, "subscription($n: Int) { onCreatePage { \(links) } }"] {
        let operation: JSONValue = [
          "id": "1", "type": "subscribe", "payload": ["query": .string(text), "variables": ["n": 50]],
        ]
        socket.send(operation.description)
        let answer = try await socket.message()
        #expect(answer.description.contains("is too complex: its estimated cost is"), "\(answer)")
        if answer["type"] == "next" { _ = try await socket.message("complete") }
      }
      socket.abort()
    }
  }

  @Test func `a server shows no cost unless its configuration says so`() async throws {
    try await Served.with(Self.schema, { _ in }) { server in
      let answer = try await HTTPRequest.graphql("{ listPages { items { id } } }", port: server.port)
      #expect(answer.json["extensions"] == nil, "\(answer.text)")
    }
  }
}
