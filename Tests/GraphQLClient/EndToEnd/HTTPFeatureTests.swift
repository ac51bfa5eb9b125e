import Foundation
import Martlet
import MartletGraphQLExecution
import MartletServer
import Testing

/// Parts, persisted operations and files, between this package's two ends over real sockets.
@Suite(.timeLimit(.minutes(1))) struct HTTPFeatureTests {
  private static let schema = """
    scalar Upload
    type Query { hero: Hero numbers: [Int!] }
    type Hero { id: ID! name: String slow: String }
    type Mutation { describe(file: Upload, files: [Upload!]): String }
    """

  private struct HeroQuery: GraphQLQuery {
    static let operationName = "Hero"
    static let operationDocument = "query Hero { hero { id ... @defer { slow } } numbers @stream(initialCount: 1) }"
    struct Data: Codable, Hashable, Sendable {
      struct Hero: Codable, Hashable, Sendable {
        var id: String
        var slow: String?
      }
      var hero: Hero?
      var numbers: [Int]?
    }
  }

  private struct Describe: GraphQLMutation {
    static let operationName = "Describe"
    static let operationDocument =
      "mutation Describe($file: Upload, $files: [Upload!]) { describe(file: $file, files: $files) }"
    struct Data: Codable, Hashable, Sendable { var describe: String? }
  }

  private func serving(
    _ latch: AsyncStream<Void> = AsyncStream { $0.finish() }, _ body: (URL) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration(schema: Self.schema)
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.resolvers = { resolvers in
      resolvers.compute("Query", "hero") { _ in ["id": "1", "name": "Leia"] as JSONValue }
      resolvers.compute("Query", "numbers") { _ in [1, 2, 3] as JSONValue }
      resolvers.resolve("Hero", "slow") { _ in
        for await _ in latch {}
        return "slow"
      }
      resolvers.resolve("Mutation", "describe") { request in
        let given = (request.arguments["files"]?.array ?? []) + [request.arguments["file"]].compactMap { $0 }
        return try given.filter { !$0.isNull }.map { value in
          let file = try Upload(value)
          return "\(file.filename) \(file.mediaType) \(file.bytes.count)"
        }.joined(separator: ", ")
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

  @Test(arguments: IncrementalDelivery.allCases)
  func `a deferred field and a streamed list come together, however they are asked for`(
    delivery: IncrementalDelivery
  ) async throws {
    try await serving { url in
      var configuration = ConnectionConfiguration()
      configuration.incrementalDelivery = delivery
      let client = try GraphQLClient(url: url, configuration: configuration)
      let answer = try await client.fetch(query: HeroQuery())
      #expect(answer.data == HeroQuery.Data(hero: .init(id: "1", slow: "slow"), numbers: [1, 2, 3]))
      #expect(answer.errors.isEmpty)
      #expect(try await client.fetch(query: HeroQuery(), cachePolicy: .cacheOnly).data == answer.data)
    }
  }

  @Test func `the first part is shown while the rest is still made`() async throws {
    let (latch, opening) = AsyncStream.makeStream(of: Void.self)
    try await serving(latch) { url in
      let client = try GraphQLClient(url: url)
      var seen: [HeroQuery.Data?] = []
      for try await result in try client.fetchInParts(query: HeroQuery()) {
        seen.append(result.data)
        #expect(result.hasNext == (result.data?.hero?.slow == nil))
        // Nothing more can come before this.
        opening.finish()
      }
      #expect(seen.first??.hero?.slow == nil)
      #expect(seen.last == HeroQuery.Data(hero: .init(id: "1", slow: "slow"), numbers: [1, 2, 3]))
    }
  }

  @Test(arguments: [ConnectionConfiguration.RequestTransport.http, .socket])
  func `a persisted operation runs by its hash, by HTTP and by socket`(
    transport: ConnectionConfiguration.RequestTransport
  ) async throws {
    try await serving { url in
      var configuration = ConnectionConfiguration()
      configuration.requestTransport = transport
      configuration.persistedOperations = PersistedOperationPolicy(queriesByGET: true)
      let client = try GraphQLClient(url: url, configuration: configuration)
      for _ in 0..<3 { #expect(try await client.query("{ hero { name } }").data?["hero"]?["name"] == "Leia") }
    }
  }

  @Test func `queries that start together share a request, and a refused one fails alone`() async throws {
    try await serving { url in
      var configuration = ConnectionConfiguration()
      configuration.batching = BatchPolicy(operations: 3, wait: .seconds(30))
      let client = try GraphQLClient(url: url, configuration: configuration)
      // Nothing leaves before the third is there.
      async let first = client.query("{ hero { name } }")
      async let second = client.query("{ numbers }")
      let third = Task { try await client.query("{ nothing }") }
      #expect(try await first.data?["hero"]?["name"] == "Leia")
      #expect(try await second.data?["numbers"] == [1, 2, 3])
      let error = await #expect(throws: GraphQLClientError.self) { try await third.value }
      #expect(error?.code == .operationFailed)
    }
  }

  @Test func `files go up from disk and from memory`() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString).bin")
    try Data(repeating: 7, count: 3_000_000).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    try await serving { server in
      let client = try GraphQLClient(url: server)
      let large = try GraphQLFile(fieldName: "file", originalName: "big", fileURL: url)
      let one = try await client.upload(operation: Describe(), files: [large])
      #expect(one.data?.describe == "big application/octet-stream 3000000")
      let files = [
        try GraphQLFile(fieldName: "files", originalName: "a", mimeType: "image/png", fileURL: url),
        GraphQLFile(fieldName: "files", originalName: "b", content: [1, 2]),
      ]
      let two = try await client.upload(operation: Describe(), files: files)
      #expect(two.data?.describe == "a image/png 3000000, b application/octet-stream 2")
    }
  }

  @Test func `files go by HTTP beside a WebSocket, and are refused where there is only the socket`() async throws {
    let file = GraphQLFile(fieldName: "file", originalName: "a", content: [1, 2])
    try await serving { server in
      let url = try #require(URL(string: server.absoluteString.replacing("http:", with: "ws:")))
      let client = try GraphQLClient(url: url)
      #expect(client.networkTransport is WebSocketTransport)
      let answer = try await client.upload(operation: Describe(), files: [file])
      #expect(answer.data?.describe == "a application/octet-stream 2")
      let alone = GraphQLClient(networkTransport: try WebSocketTransport(url: url))
      let refused = await #expect(throws: GraphQLClientError.self) {
        try await alone.upload(operation: Describe(), files: [file])
      }
      #expect(refused?.code == .invalidRequest && refused?.message.contains("by HTTP") == true)
    }
  }
}
