import Foundation
import Martlet
import MartletFoundationNetwork
import MartletTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The client over Foundation's network against `martlet serve` and a server with fields in Swift: real sockets, plain
/// HTTP.
@Suite(.timeLimit(.minutes(2))) struct FoundationEndToEndTests {
  private static func write(_ text: String, _ client: GraphQLClient) async throws -> String? {
    try await client.mutate(
      "mutation ($t: String!) { createNote(input: {text: $t}) { text } }", variables: ["t": .string(text)]
    ).data?["createNote"]?["text"]?.string
  }

  @Test func `queries and mutations work, several at a time`() async throws {
    try await Servers.withNotes { url in
      let client = try Servers.client(url)
      let texts = try await withThrowingTaskGroup(of: String?.self) { group in
        for number in 0..<20 { group.addTask { try await Self.write("\(number)", client) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(texts) == Set((0..<20).map { "\($0)" }))
      let items = try await client.query("{ listNotes(limit: 100) { items { text } } }").data?["listNotes"]?["items"]
      #expect(items?.array?.count == 20)
      client.shutDown()
    }
  }

  @Test func `a long response is whole, and one beyond the limit is a typed error`() async throws {
    try await Servers.withPeer { url in
      let client = try Servers.client(url)
      let long = try await client.query("{ long(count: 3000000) }").data?["long"]?.string
      #expect(long?.utf8.count == 3_000_000)
      let small = try Servers.client(url) { $0.messageBytes = 1_000 }
      let tooLarge = await #expect(throws: GraphQLClientError.self) { try await small.query("{ long(count: 2000) }") }
      #expect(tooLarge?.code == .responseTooLarge)
      for client in [client, small] { client.shutDown() }
    }
  }

  @Test func `a server that is not there, a wrong path and a document of errors are typed errors`() async throws {
    let closed = try await Servers.notes()
    closed.program.stop()
    let gone = try Servers.client(closed.url) { $0.reconnect = .never }
    let refused = await #expect(throws: GraphQLClientError.self) { try await gone.query("{ __typename }") }
    #expect(refused?.code == .connectFailed, "\(String(describing: refused))")
    let mutation = await #expect(throws: GraphQLClientError.self) {
      try await gone.mutate("mutation { createNote(input: {}) { id } }")
    }
    #expect(mutation?.code == .connectFailed, "nothing was sent, so that the outcome is known")
    gone.shutDown()
    try await Servers.withNotes { url in
      let lost = try Servers.client(url.path("nowhere"))
      let missing = await #expect(throws: GraphQLClientError.self) { try await lost.query("{ __typename }") }
      #expect(missing?.status == 404)
      let client = try Servers.client(url)
      let refused = await #expect(throws: GraphQLClientError.self) { try await client.query("{ nothing }") }
      #expect(refused?.code == .operationFailed)
      for client in [lost, client] { client.shutDown() }
    }
  }

  @Test func `files are uploaded from memory and from disk, and the temporary body is removed`() async throws {
    try await Servers.withPeer { url in
      let client = try Servers.client(url)
      let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("cat.bin")
      try Data(bytes).write(to: file)
      let sum = bytes.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 }
      for file in [
        GraphQLFile(
          fieldName: "file", originalName: "cat.bin", mimeType: "application/octet-stream", content: bytes),
        try GraphQLFile(fieldName: "file", fileURL: file),
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
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let old = try await Servers.notesToRestart(folder: folder)
    let client = try Servers.client(old.url) {
      $0.subscriptionMediaType = media
      $0.resumesHTTPSubscriptions = true
    }
    let notes = client.subscribe("subscription { onCreateNote { text } }")
    try await notes.ready()
    for text in ["1", "2"] { #expect(try await Self.write(text, client) == text) }
    old.program.stop()
    let new = try await Servers.notes(folder: folder, port: old.url.port ?? 0)
    defer { new.program.stop() }
    let writer = try Servers.client(new.url)
    for text in ["3", "4"] { #expect(try await Self.write(text, writer) == text) }
    var seen: [String] = []
    for try await event in notes {
      seen.append(event.gap.map { "gap \($0.reason.rawValue)" } ?? event.data?["onCreateNote"]?["text"]?.string ?? "?")
      if seen.count == 4 { break }
    }
    #expect(seen == ["1", "2", "3", "4"])
    for client in [client, writer] { client.shutDown() }
  }

  @Test func `more streams than the system's connections for requests leave room for queries`() async throws {
    try await Servers.withNotes { url in
      let client = try Servers.client(url)
      let streams = (0..<10).map { _ in client.subscribe("subscription { onCreateNote { text } }") }
      for stream in streams { try await stream.ready() }
      #expect(try await Self.write("all", client) == "all")
      for stream in streams {
        for try await event in stream {
          #expect(event.data?["onCreateNote"]?["text"] == "all")
          break
        }
      }
      client.shutDown()
    }
  }

  private static let usesFoundation = ProcessInfo.processInfo.environment["MARTLET_NETWORK"] == "foundation"

  /// Linux's own network has another initialiser, whose sockets are the library's own.
  @Test(.enabled(if: usesFoundation))
  func `a session's cookies are kept and sent, its credentials are the client's where that has some`() async throws {
    try await Servers.withPeer { url in
      let sessions = URLSessionConfiguration.ephemeral
      sessions.httpAdditionalHeaders = ["Authorization": "Bearer session"]
      for (token, shown) in [(nil, "Bearer session"), ("own", "Bearer own")] as [(String?, String)] {
        var configuration = WebSocketTransport.configuration
        configuration.requestTransport = .http
        if let token { configuration.credentials = { _ in .bearer(token) } }
        let transport = try WebSocketTransport(
          urlSession: URLSession(configuration: sessions), store: GraphQLStore(), endpointURL: url.path("fields"),
          configuration: configuration)
        let client = GraphQLClient(networkTransport: transport, store: GraphQLStore())
        var seen: [String?] = []
        for _ in 0..<2 { seen.append(try await client.query("{ fields }").data?["fields"]?.string) }
        // The session's cookies are one store: those of the first client are the second one's.
        let first = token == nil ? "Cookie=- Authorization=\(shown)" : "Cookie=place=here Authorization=\(shown)"
        #expect(seen == [first, "Cookie=place=here Authorization=\(shown)"])
        client.shutDown()
      }
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
