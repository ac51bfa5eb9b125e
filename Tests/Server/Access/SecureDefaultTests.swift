import MartletJSON
import MartletServer
import Testing

/// What a server does without configuration. Each row is a default that keeps it closed.
@Suite(.timeLimit(.minutes(1))) struct SecureDefaultTests {
  private static let schema = """
    type Note @model @auth(rules: [{allow: owner}]) { id: ID! text: String }
    type Bare @model { id: ID! }
    type Query { broken: String }
    """

  @Test func `without --dev and without access no caller is served: the server does not start`() throws {
    let error = #expect(throws: ServerError.self) { try GraphQLServer(ServerConfiguration(schema: Self.schema)) }
    #expect(error?.code == .access && error?.description.contains("closed by default") == true)
    for text in ["{}", #"{"keys":[]}"#, #"{"origins":["https://a.example"]}"#, #"{"guests":false}"#] {
      #expect(throws: AccessFile.Malformed.self, "\(text)") { try AccessFile(text) }
    }
  }

  @Test func `the defaults of a configuration are the closed ones`() {
    let configuration = ServerConfiguration(schema: "")
    #expect(configuration.address == "127.0.0.1" && configuration.adminAddress == "127.0.0.1")
    #expect(configuration.adminPort == nil)
    #expect(configuration.trustedProxies.isEmpty && !configuration.expectsProxyProtocol)
    #expect(configuration.allowsIntrospection == nil && configuration.errorExposure == nil)
    #expect(!configuration.allowsDropping && !configuration.allowsCreating && !configuration.allowsDuplicates)
    #expect(configuration.treeRules == nil && !configuration.queryCredentials)
    #expect(TokenIssuer(issuer: nil, keys: .discovery).requiredClaims == ["exp"])
  }

  @Test func `with one key, everything else is closed`() async throws {
    struct Trouble: Error {}
    let access = try Served.access("key")
    try await Served.with(
      Self.schema,
      { configuration in
        configuration.access = .keys(access)
        configuration.resolvers = { resolvers in
          resolvers.compute("Query", "broken") { request -> JSONValue in throw Trouble() }
        }
      }
    ) { server in
      let own = [("x-api-key", "key")]
      func code(_ query: String) async throws -> JSONValue? {
        let answer = try await HTTPRequest.graphql(query, port: server.port, headers: own)
        return answer.json["errors"]?[0]?["extensions"]?["code"]
      }
      // Strangers reach health alone.
      for (path, status) in [("/healthz", 200), ("/readyz", 200), ("/metrics", 401), ("/console", 404)] {
        #expect(try await HTTPRequest.send("GET", path, port: server.port).status == status, "\(path)")
      }
      #expect(try await HTTPRequest.graphql("{ __typename }", port: server.port).status == 401)
      #expect(
        try await HTTPRequest.graphql("{ __typename }", port: server.port, headers: [("x-api-key", "other")]).status
          == 401)
      #expect(
        try await HTTPRequest.send("GET", "/graphql?query=%7B__typename%7D&x-api-key=key", port: server.port).status
          == 401)
      // The key's caller: no schema, no texts of errors, nothing without a rule.
      #expect(
        try await HTTPRequest.graphql("{ __schema { types { name } } }", port: server.port, headers: own).json["data"]?[
          "__schema"] == nil)
      let broken = try await HTTPRequest.graphql("{ broken }", port: server.port, headers: own)
      #expect(broken.text.contains("Internal error.") && !broken.text.contains("Trouble"))
      #expect(try await code("{ listNotes { items { id } } }") == "FORBIDDEN")
      #expect(try await code("{ listBares { items { id } } }") == "FORBIDDEN")
      #expect(try await code("mutation { createBare(input: {}) { id } }") == "FORBIDDEN")
      let socket = try await RawSocket.open(port: server.port)
      socket.send(#"{"type":"connection_init"}"#)
      #expect(await socket.closeCode() == 4403)
      // A page of another site may send a request and not read the answer.
      let page = try await HTTPRequest.graphql(
        "{ __typename }", port: server.port, headers: own + [("Origin", "https://evil.example")])
      #expect(!page.head.lowercased().contains("access-control-allow-credentials"))
    }
  }
}
