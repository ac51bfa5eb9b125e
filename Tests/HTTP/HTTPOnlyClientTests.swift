import Foundation
import MartletHTTP
import MartletServer
import Testing

/// The client of `MartletHTTP`, in a file that imports nothing more of it.
@Suite(.timeLimit(.minutes(1))) struct HTTPOnlyClientTests {
  private static let schema = """
    scalar Upload
    type Query { hero: Hero }
    type Hero { id: ID! slow: String }
    type Mutation { describe(file: Upload): String rename(name: String!): String }
    type Subscription { count(to: Int!): Int }
    """

  private struct HeroQuery: GraphQLQuery {
    static let operationName = "Hero"
    static let operationDocument = "query Hero { hero { id ... @defer { slow } } }"
    struct Data: Codable, Hashable, Sendable {
      struct Hero: Codable, Hashable, Sendable {
        var id: String
        var slow: String?
      }
      var hero: Hero?
    }
  }

  private struct Describe: GraphQLMutation {
    static let operationName = "Describe"
    static let operationDocument = "mutation Describe($file: Upload) { describe(file: $file) }"
    struct Data: Codable, Hashable, Sendable { var describe: String? }
  }

  private func serving(_ body: (URL) async throws -> Void) async throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.port = 0
    configuration.loops = 1
    configuration.resolvers = { resolvers in
      resolvers.compute("Query", "hero") { _ in ["id": "1"] as JSONValue }
      resolvers.resolve("Hero", "slow") { _ in "slow" }
      resolvers.resolve("Mutation", "rename") { request in request.arguments["name"]?.string }
      resolvers.resolve("Mutation", "describe") { request in
        let file = try Upload(request.arguments["file"] ?? .null)
        return "\(file.filename) \(file.bytes.count)"
      }
      resolvers.stream("Subscription", "count") { request in
        let last = request.arguments["to"]?.int ?? 0
        return AsyncStream<JSONValue> { numbers in
          for number in 0..<last { numbers.yield(.int(number + 1)) }
          numbers.finish()
        }
      }
    }
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      try await body(try #require(URL(string: "http://127.0.0.1:\(server.port)/graphql")))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test func `queries, mutations, files and parts go by HTTP`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString).bin")
    try Data(repeating: 7, count: 1_000_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await serving { url in
      let client = try GraphQLClient(url: url)
      #expect(try await client.query("{ hero { id } }").data?["hero"]?["id"] == "1")
      let renamed = try await client.mutate(
        "mutation ($name: String!) { rename(name: $name) }", variables: ["name": "Leia"])
      #expect(renamed.data?["rename"] == "Leia")
      let picture = try GraphQLFile(fieldName: "file", originalName: "big", fileURL: file)
      #expect(try await client.upload(operation: Describe(), files: [picture]).data?.describe == "big 1000000")
      var parts: [HeroQuery.Data?] = []
      for try await result in try client.fetchInParts(query: HeroQuery()) { parts.append(result.data) }
      #expect(parts.last == HeroQuery.Data(hero: .init(id: "1", slow: "slow")))
      #expect(try await client.fetch(query: HeroQuery()).data == parts.last ?? nil)
      // Without a store nothing was kept: the server was asked again.
      #expect(try await client.fetch(query: HeroQuery()).source == .server)
      client.shutDown()
      let gone = await #expect(throws: GraphQLClientError.self) { try await client.query("{ hero { id } }") }
      #expect(gone?.code == .shutDown)
    }
  }

  @Test(arguments: [SubscriptionMediaType.multipart, .eventStream, .sharedEventStream])
  func `subscriptions go by HTTP in every form`(form: SubscriptionMediaType) async throws {
    try await serving { url in
      var configuration = ConnectionConfiguration()
      configuration.subscriptionMediaType = form
      let client = try GraphQLClient(url: url, configuration: configuration)
      let stream = client.subscribe("subscription { count(to: 3) }")
      var numbers: [JSONValue?] = []
      for try await result in stream { numbers.append(result.data?["count"]) }
      #expect(numbers == [1, 2, 3])
      #expect(stream.state.description == "finished(completed)")
    }
  }

  @Test func `a WebSocket is refused with what to import, whatever asks for it`() throws {
    typealias Case = (url: String, change: (inout ConnectionConfiguration) -> Void)
    let refused: [Case] = [
      ("ws://a.test/graphql", { _ in }),
      ("wss://a.test/graphql", { _ in }),
      ("https://a.test/graphql", { $0.subscriptionTransport = .socket }),
      ("https://a.test/graphql", { $0.requestTransport = .socket }),
      ("https://a.test/graphql", { $0.dialect = .graphqlWS }),
    ]
    for (url, change) in refused {
      var configuration = ConnectionConfiguration()
      change(&configuration)
      let url = try #require(URL(string: url))
      let error = #expect(throws: GraphQLClientError.self) { try GraphQLClient(url: url, configuration: configuration) }
      #expect(error?.code == .invalidRequest && error?.message.contains("import Martlet") == true, "\(url)")
    }
    // Asked for by name, HTTP goes to that host and path.
    var configuration = ConnectionConfiguration()
    configuration.subscriptionTransport = .http
    _ = try GraphQLClient(url: try #require(URL(string: "ws://a.test/graphql")), configuration: configuration)
    // What no client can use is said as ever.
    let error = #expect(throws: GraphQLClientError.self) {
      try GraphQLClient(url: try #require(URL(string: "ftp://a.test/graphql")))
    }
    #expect(error?.message.contains("none of ws, wss, http, https") == true)
  }

  @Test func `authorities that cannot be read are refused when the client is made`() throws {
    let empty = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString).pem")
    try Data("no certificate\n".utf8).write(to: empty)
    defer { try? FileManager.default.removeItem(at: empty) }
    for file in ["/no/such/file.pem", empty.path] {
      var configuration = ConnectionConfiguration()
      configuration.authorityFile = file
      let url = try #require(URL(string: "https://a.test/graphql"))
      let error = #expect(throws: GraphQLClientError.self) { try GraphQLClient(url: url, configuration: configuration) }
      #expect(error?.code == .invalidRequest && error?.message.contains("authorities") == true)
    }
  }

  @Test func `models are asked for by the process's client`() async throws {
    try await serving { url in
      let answer = try await Martlet.withClient(try GraphQLClient(url: url)) {
        try await Martlet.API.query(
          request: GraphQLRequest("{ hero { id } }", decodePath: "hero.id", responseType: String.self))
      }
      #expect(try answer.get() == "1")
    }
  }
}
