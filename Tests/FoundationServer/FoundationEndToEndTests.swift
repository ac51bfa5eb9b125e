import Foundation
import Martlet
import MartletFoundationNetwork
import MartletServer
import Testing

/// The client over Foundation's network against the server of this package: real sockets, plain HTTP.
@Suite(.timeLimit(.minutes(1))) struct FoundationEndToEndTests {
  private static let schema = """
    scalar Upload
    type Note @model { id: ID! text: String }
    type Query { long(count: Int!): String }
    type Mutation { keep(file: Upload!): String }
    """

  private static func server(folder: String? = nil, port: Int = 0) throws -> GraphQLServer {
    var configuration = ServerConfiguration(schema: schema)
    configuration.data = folder.map { .folder($0) } ?? .memory
    configuration.access = .development
    configuration.log = .silent
    configuration.port = port
    configuration.resolvers = { resolvers in
      resolvers.compute("Query", "long") { request in
        String(repeating: "x", count: Int(request.arguments["count"]?.int ?? 0))
      }
      resolvers.resolve("Mutation", "keep") { request in
        let file = try Upload(request.arguments["file"])
        return "\(file.filename) \(file.bytes.count) \(file.bytes.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 })"
      }
    }
    let server = try GraphQLServer(configuration)
    try server.start()
    return server
  }

  private static func client(
    _ port: Int, _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.reconnect.firstDelay = .milliseconds(20)
    configuration.reconnect.longestDelay = .milliseconds(100)
    configure(&configuration)
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/graphql"))
    // With the client's own sources for Foundation, as Apple platforms have them, it is the client's default.
    let isDefault = ProcessInfo.processInfo.environment["MARTLET_NETWORK"] == "foundation"
    return try GraphQLClient(
      url: url, configuration: configuration, environment: isDefault ? nil : FoundationEnvironment.shared)
  }

  private static func with(_ body: (GraphQLServer) async throws -> Void) async throws {
    let server = try server()
    do { try await body(server) } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test func `queries and mutations work, several at a time, and long responses are whole`() async throws {
    try await Self.with { server in
      let client = try Self.client(server.port)
      let texts = try await withThrowingTaskGroup(of: String?.self) { group in
        for number in 0..<20 {
          group.addTask {
            try await client.mutate(
              "mutation ($t: String!) { createNote(input: {text: $t}) { text } }",
              variables: ["t": .string("\(number)")]
            ).data?["createNote"]?["text"]?.string
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(texts) == Set((0..<20).map { "\($0)" }))
      let long = try await client.query("{ long(count: 3000000) }").data?["long"]?.string
      #expect(long?.utf8.count == 3_000_000)
      client.shutDown()
    }
  }

  @Test func `a response beyond the limit, a server that is not there and a wrong path are typed errors`() async throws
  {
    try await Self.with { server in
      let small = try Self.client(server.port) { $0.messageBytes = 1_000 }
      let tooLarge = await #expect(throws: GraphQLClientError.self) { try await small.query("{ long(count: 2000) }") }
      #expect(tooLarge?.code == .responseTooLarge)
      let closed = try Self.server()
      let port = closed.port
      await closed.stop()
      let gone = try Self.client(port) { $0.reconnect = .never }
      let refused = await #expect(throws: GraphQLClientError.self) { try await gone.query("{ __typename }") }
      #expect(refused?.code == .connectFailed, "\(String(describing: refused))")
      let mutation = await #expect(throws: GraphQLClientError.self) {
        try await gone.mutate("mutation { createNote(input: {}) { id } }")
      }
      #expect(mutation?.code == .connectFailed, "nothing was sent, so that the outcome is known")
      for client in [small, gone] { client.shutDown() }
    }
  }

  @Test func `files are uploaded from memory and from disk, and the temporary body is removed`() async throws {
    try await Self.with { server in
      let client = try Self.client(server.port)
      let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let url = folder.appendingPathComponent("cat.bin")
      try Data(bytes).write(to: url)
      let sum = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 }
      for file in [
        GraphQLFile(
          fieldName: "file", originalName: "cat.bin", mimeType: "application/octet-stream", content: bytes),
        try GraphQLFile(fieldName: "file", fileURL: url),
      ] {
        let request = OperationRequest(.mutation, document: "mutation ($file: Upload!) { keep(file: $file) }")
        let transport = try #require(client.networkTransport as? any UploadingNetworkTransport)
        let payload = try await transport.upload(request, files: [file]).value
        #expect(payload["data"]?["keep"]?.string == "cat.bin 100000 \(sum)")
      }
      client.shutDown()
    }
  }

  @Test(arguments: [SubscriptionMediaType.multipart, .eventStream, .sharedEventStream])
  func `subscriptions by HTTP get every event, also across a restart of the server`(media: SubscriptionMediaType)
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: "martlet-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let old = try Self.server(folder: folder)
    let port = old.port
    let client = try Self.client(port) {
      $0.subscriptionMediaType = media
      $0.resumesHTTPSubscriptions = true
    }
    let notes = client.subscribe("subscription { onCreateNote { text } }")
    try await notes.ready()
    func write(_ text: String, _ server: GraphQLServer) async throws {
      try await server.transaction { try $0.create("Note", ["text": .string(text)]) }
    }
    for text in ["1", "2"] { try await write(text, old) }
    await old.stop()
    let new = try Self.server(folder: folder, port: port)
    for text in ["3", "4"] { try await write(text, new) }
    var seen: [String] = []
    for try await event in notes {
      seen.append(event.gap.map { "gap \($0.reason.rawValue)" } ?? event.data?["onCreateNote"]?["text"]?.string ?? "?")
      if seen.count == 4 { break }
    }
    #expect(seen == ["1", "2", "3", "4"])
    client.shutDown()
    await new.stop()
  }

  @Test func `more streams than the system's connections for requests leave room for queries`() async throws {
    try await Self.with { server in
      let client = try Self.client(server.port)
      let streams = (0..<10).map { _ in client.subscribe("subscription { onCreateNote { text } }") }
      for stream in streams { try await stream.ready() }
      try await client.mutate(#"mutation { createNote(input: {text: "all"}) { id } }"#)
      for stream in streams {
        for try await event in stream {
          #expect(event.data?["onCreateNote"]?["text"] == "all")
          break
        }
      }
      client.shutDown()
    }
  }

  @Test func `settings that the system's network does not have are refused, not ignored`() throws {
    for configure in [
      { $0.proxy = "http://127.0.0.1:1" }, { $0.pinnedPublicKeys = [Data(count: 32).base64EncodedString()] },
    ] as [(inout ConnectionConfiguration) -> Void] {
      var configuration = ConnectionConfiguration()
      configure(&configuration)
      let error = #expect(throws: GraphQLClientError.self) { try FoundationEnvironment.http(configuration) }
      #expect(error?.code == .invalidRequest)
    }
  }
}
