import MartletServer
import Testing

/// Replacing the access file while the server runs: all of it, or nothing.
@Suite(.timeLimit(.minutes(1))) struct ReloadTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  private static func statuses(_ server: GraphQLServer) async throws -> [String] {
    var found: [String] = []
    for key in ["old", "new"] {
      for origin in ["https://one.example", "https://two.example"] {
        let answer = try await HTTPRequest.graphql(
          "{ __typename }", port: server.port, headers: [("x-api-key", key), ("Origin", origin)])
        if answer.status == 200 { found.append("\(key) \(origin)") }
      }
    }
    return found
  }

  @Test func `keys and origins of another access file take effect together`() async throws {
    let old = try Served.access("old", origins: #"["https://one.example"]"#)
    try await Served.with(Self.schema, { $0.access = .keys(old) }) { server in
      #expect(try await Self.statuses(server) == ["old https://one.example"])
      try server.reload(access: try Served.access("new", origins: #"["https://two.example"]"#))
      #expect(try await Self.statuses(server) == ["new https://two.example"])
      try server.reload(access: try Served.access("new"))
      #expect(try await Self.statuses(server) == ["new https://one.example", "new https://two.example"])
    }
  }

  @Test func `a server without API keys refuses an access file`() async throws {
    try await Served.with(Self.schema) { server in
      let error = #expect(throws: ServerError.self) { try server.reload(access: try Served.access("new")) }
      #expect(error?.code == .access)
      #expect(throws: Never.self) { try server.reload(access: nil) }
    }
  }
}
