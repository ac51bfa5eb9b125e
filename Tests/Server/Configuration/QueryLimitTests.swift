import MartletJSON
import MartletServer
import Testing

/// The bounds of a document, set by name, as a client over HTTP meets them.
@Suite struct QueryLimitTests {
  private static let schema = "type Note @model { id: ID! text: String next: Note @belongsTo }"

  @Test(arguments: [
    ("query.complexity=20", "{listNotes(limit: 30) {items {id}}}", "is too complex"),
    ("query.tokens=8", "{a: __typename b: __typename c: __typename}", "too many tokens; at most 8"),
    ("query.aliases=1", "{a: __typename b: __typename}", "too many aliases; at most 1"),
    ("query.nesting=3", "{listNotes {items {next {id}}}}", "at most 3 levels"),
    ("query.depth=3", "{listNotes {items {next {id}}}}", "nested 4 levels deep"),
    ("query.fields=2", "{listNotes {items {id}}}", "too many fields; at most 2"),
    (
      "query.directives=1", "{listNotes @skip(if: false) {items @skip(if: false) {id}}}",
      "too many directives; at most 1"
    ),
    ("query.documentBytes=12", "{listNotes {items {id}}}", "24 bytes; at most 12"),
    ("query.introspectionDepth=0", "{__schema {types {fields {name}}}}", "introspection"),
  ])
  func `a document beyond a bound is refused with its number`(
    setting: String, query: String, message: String
  ) async throws {
    try await Served.with(Self.schema, { try $0.limits.set(setting) }) { server in
      let response = try await HTTPRequest.graphql(query, port: server.port)
      #expect(response.json["data"] == nil && response.json["errors"]?.array?.count == 1)
      #expect(response.text.lowercased().contains(message.lowercased()), "\(response.text)")
      #expect(try await HTTPRequest.graphql("{__typename}", port: server.port).status == 200)
    }
  }

  @Test func `a response that is larger than the limit is an error in its place, in batches as well`() async throws {
    try await Served.with(Self.schema, { try $0.limits.set("query.responseBytes=20000") }) { server in
      let text = String(repeating: "x", count: 3_000)
      for number in 0..<10 {
        let made = try await HTTPRequest.graphql(
          "mutation {createNote(input: {id: \"\(number)\", text: \"\(text)\"}) {id text}}", port: server.port)
        #expect(made.json["errors"] == nil)
      }
      func code(_ json: JSONValue?) -> JSONValue? { json?["errors"]?[0]?["extensions"]?["code"] }
      let (few, all) = ("{listNotes(limit: 5) {items {text}}}", "{listNotes {items {text}}}")
      let fit = try await HTTPRequest.graphql(few, port: server.port)
      #expect(fit.json["errors"] == nil && fit.json["data"]?["listNotes"]?["items"]?.array?.count == 5)
      let large = try await HTTPRequest.graphql(all, port: server.port)
      #expect(large.status == 200 && code(large.json) == "RESPONSE_TOO_LARGE" && large.json["data"] == .null)
      #expect(large.text.contains("query.responseBytes of 20000"))
      let batch = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port, headers: [("Content-Type", "application/json")],
        body: "[{\"query\": \"\(few)\"}, {\"query\": \"\(all)\"}]")
      #expect(batch.json[0]?["errors"] == nil && code(batch.json[1]) == "RESPONSE_TOO_LARGE")
      let fields = (0..<9).map { "t\($0): text" }.joined(separator: " ")
      let changed = try await HTTPRequest.graphql(
        "mutation { createNote(input: {id: \"x\", text: \"\(text)\"}) {\(fields)} }", port: server.port)
      #expect(code(changed.json) == "RESPONSE_TOO_LARGE" && changed.text.contains("The mutation was executed."))
      let written = try await HTTPRequest.graphql("{getNote(id: \"x\") {id}}", port: server.port)
      #expect(written.json["data"]?["getNote"]?["id"] == "x")
    }
  }

  @Test(arguments: ["POST", "batch", "GET"])
  func `the JSON of a request may be as deep as the setting says, by every door`(door: String) async throws {
    try await Served.with(Self.schema, { try $0.limits.set("http.bodyDepth=6") }) { server in
      for (depth, isTaken) in [(3, true), (4, true), (6, false), (200, false)] {
        let list = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let body = "{\"query\":\"{ __typename }\",\"variables\":{\"unused\":\(list)}}"
        let target = door == "GET" ? "/graphql?query=%7B__typename%7D&variables=%7B%22unused%22:\(list)%7D" : "/graphql"
        let answer = try await HTTPRequest.send(
          door == "GET" ? "GET" : "POST", target, port: server.port, headers: [("Content-Type", "application/json")],
          body: door == "POST" ? body : door == "batch" ? "[\(body)]" : "")
        // A list of operations is one level itself, and the variables of a query's member stand alone.
        let expected = door == "batch" && depth == 4 ? false : isTaken
        #expect((answer.status == 200) == expected, "\(depth): \(answer.text)")
      }
    }
  }

  @Test func `a body may be as long as the setting says, also beyond 16 MiB`() async throws {
    try await Served.with(
      Self.schema,
      {
        for limit in ["http.bodyBytes=20MiB", "store.recordBytes=20MiB"] { try $0.limits.set(limit) }
      }
    ) { server in
      let text = String(repeating: "x", count: 17 << 20)
      let made = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port, headers: [("Content-Type", "application/json")],
        body: "{\"query\":\"mutation ($t: String) {createNote(input: {id: \\\"1\\\", text: $t}) {id}}\","
          + "\"variables\":{\"t\":\"\(text)\"}}")
      #expect(made.json["data"]?["createNote"]?["id"] == "1", "\(made.text.prefix(300))")
    }
  }

  @Test func `pages have the set number of items`() async throws {
    try await Served.with(
      Self.schema,
      {
        try $0.limits.set("query.pageItems=2")
        try $0.limits.set("query.largestPage=3")
      }
    ) { server in
      for number in 0..<5 {
        _ = try await HTTPRequest.graphql("mutation {createNote(input: {id: \"\(number)\"}) {id}}", port: server.port)
      }
      for (arguments, count) in [("", 2), ("(limit: 1)", 1), ("(limit: 100)", 3)] {
        let list = try await HTTPRequest.graphql("{listNotes\(arguments) {items {id}}}", port: server.port)
        #expect(list.json["data"]?["listNotes"]?["items"]?.array?.count == count)
      }
    }
  }
}
