import MartletJSON
import MartletServer
import Testing

/// Several operations in one request, over real sockets.
@Suite(.timeLimit(.minutes(1))) struct BatchTests {
  private static let schema = """
    type Note @model { id: ID! text: String }
    type Query { slow(name: String!): String }
    """

  private func post(_ body: String, port: Int) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send(
      "POST", "/graphql", port: port, headers: [("Content-Type", "application/json")], body: body)
  }

  @Test func `a list is answered by a list in its order, whatever takes longer`() async throws {
    let configure: @Sendable (inout ServerConfiguration) -> Void = { configuration in
      configuration.resolvers = { resolvers in
        resolvers.resolve("Query", "slow") { request in
          for _ in 0..<100 { await Task.yield() }
          return request.string("name") ?? ""
        }
      }
    }
    try await Served.with(Self.schema, configure) { server in
      let answer = try await post(
        #"""
        [{"query":"{ slow(name: \"a\") }"}, {"query":"{"}, {"query":"{ __typename }"},
         {"query":"mutation { createNote(input: {text: \"t\"}) { text } }"},
         {"query":"subscription { onCreateNote { id } }"}]
        """#, port: server.port)
      #expect(answer.status == 200)
      #expect(answer.json.array?.count == 5)
      #expect(answer.json[0]?["data"]?["slow"] == "a")
      #expect(answer.json[1]?["data"] == nil && answer.json[1]?["errors"] != nil)
      #expect(answer.json[2]?["data"]?["__typename"] == "Query")
      #expect(answer.json[3]?["data"]?["createNote"]?["text"] == "t")
      #expect(answer.json[4]?["errors"]?[0]?["extensions"]?["code"] == "UNSUPPORTED_OPERATION")
    }
  }

  @Test func `a list beyond its limit, an empty one, and one with something else run nothing`() async throws {
    try await Served.with("type Note @model { id: ID! }", { $0.limits.http.operationsPerRequest = 2 }) { server in
      let create = #"{"query":"mutation { createNote(input: {}) { id } }"}"#
      for body in ["[\(create),\(create),\(create)]", "[]", "[\(create),1]", "[\(create),{}]"] {
        let answer = try await post(body, port: server.port)
        #expect(answer.status == 400)
        #expect(answer.json["errors"]?[0]?["message"] != nil)
      }
      let two = try await post("[\(create),\(create)]", port: server.port)
      #expect(two.json.array?.count == 2)
      let list = try await HTTPRequest.graphql("{ listNotes { items { id } } }", port: server.port)
      #expect(list.json["data"]?["listNotes"]?["items"]?.array?.count == 2)
    }
  }

  @Test func `what is refused inside a list is counted and logged as outside of one`() async throws {
    let keeper = LogRecorder()
    let bad = #"{"query":"query A($id: ID!) { getNote(id: $id) { id } }"}"#
    let configure: @Sendable (inout ServerConfiguration) -> Void = { $0.log = keeper.log }
    try await Served.with("type Note @model { id: ID! }", configure) { server in
      func refused() async throws -> Int? {
        let text = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
        let line = text.split(separator: "\n").first { $0.hasPrefix("martlet_operations_refused_total ") }
        return Int(line?.split(separator: " ").last ?? "")
      }
      _ = try await post(bad, port: server.port)
      #expect(try await refused() == 1)
      _ = try await post("[\(bad),{\"query\":\"{\"},{\"query\":\"{ __typename }\"}]", port: server.port)
      #expect(try await refused() == 3)
    }
    #expect(keeper.count(of: "Operations of one request were refused.") == 1)
  }
}
