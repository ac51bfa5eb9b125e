#if canImport(Glibc)
  import Foundation
  import Martlet
  import Testing

  /// Event streams over Foundation's network whose connections are cut on the way to `martlet serve`.
  @Suite(.timeLimit(.minutes(2))) struct CutStreamTests {
    private typealias Stream = SubscriptionStream<GraphQLResponse<JSONValue>>
    private static let document = "subscription { onCreateNote { text } }"

    private static func write(_ text: String, _ client: GraphQLClient) async throws {
      let note = try await client.mutate(
        "mutation ($t: String!) { createNote(input: {text: $t}) { text } }", variables: ["t": .string(text)]
      ).data?["createNote"]
      #expect(note?["text"]?.string == text)
    }

    private static func text(_ event: GraphQLResponse<JSONValue>) -> String {
      event.gap.map { "gap \($0.reason.rawValue)" } ?? event.data?["onCreateNote"]?["text"]?.string ?? "?"
    }

    private static func with(
      life: @escaping @Sendable (Int) -> Int = { _ in .max },
      _ body: (_ proxy: CuttingProxy, _ through: URL, _ writer: GraphQLClient) async throws -> Void
    ) async throws {
      try await Servers.withNotes { url in
        let proxy = try CuttingProxy(to: try #require(url.port), life: life)
        defer { proxy.stop() }
        let writer = try Servers.client(url)
        try await body(proxy, try #require(URL(string: "http://127.0.0.1:\(proxy.port)/graphql")), writer)
        writer.shutDown()
      }
    }

    @Test(arguments: [SubscriptionMediaType.multipart, .eventStream, .sharedEventStream])
    func `a stream that is cut resumes from its cursor, and nothing is missing or repeated`(
      media: SubscriptionMediaType
    ) async throws {
      try await Self.with { proxy, url, writer in
        let client = try Servers.client(url) {
          $0.subscriptionMediaType = media
          $0.resumesHTTPSubscriptions = true
        }
        let notes = client.subscribe(Self.document)
        try await notes.ready()
        var iterator = notes.makeAsyncIterator()
        var (seen, written): ([String], [String]) = ([], [])
        for round in 0..<5 {
          for part in ["read", "unread"] {
            written.append("\(round) \(part)")
            try await Self.write("\(round) \(part)", writer)
            if part == "read" { seen.append(try await iterator.next().map(Self.text) ?? "end") }
          }
          proxy.cut()
          written.append("\(round) after")
          try await Self.write("\(round) after", writer)
          for _ in 0..<2 { seen.append(try await iterator.next().map(Self.text) ?? "end") }
        }
        #expect(seen == written && proxy.cuts == 5 && proxy.accepted >= 6)
        client.shutDown()
      }
    }

    /// Not the shared stream, whose other requests would be cut inside the head of a response, too: there Foundation on
    /// Linux stops the process (`FoundationDifferencesTests`).
    @Test(arguments: [SubscriptionMediaType.multipart, .eventStream])
    func `connections that are cut anywhere in an event lose none and repeat none`(media: SubscriptionMediaType)
      async throws
    {
      // Each lives for a few bytes more than the one before, so that the cuts are at all places of events.
      try await Self.with(life: { 700 + 61 * $0 }) { proxy, url, writer in
        let client = try Servers.client(url) {
          $0.subscriptionMediaType = media
          $0.resumesHTTPSubscriptions = true
          $0.reconnect.firstDelay = .milliseconds(1)
          $0.reconnect.longestDelay = .milliseconds(5)
        }
        let notes = client.subscribe(Self.document)
        try await notes.ready()
        let texts = (0..<60).map { "note \($0)" }
        for text in texts { try await Self.write(text, writer) }
        var seen: [String] = []
        for try await event in notes {
          seen.append(Self.text(event))
          if seen.count == texts.count { break }
        }
        #expect(seen == texts, "\(proxy.cuts) cuts")
        #expect(proxy.cuts > 3)
        client.shutDown()
      }
    }

    @Test func `by default a cut ends the subscription with its cursor, from which another one continues`() async throws
    {
      try await Self.with { proxy, url, writer in
        let client = try Servers.client(url) { $0.subscriptionMediaType = .eventStream }
        let notes = client.subscribe(Self.document)
        try await notes.ready()
        var iterator = notes.makeAsyncIterator()
        try await Self.write("1", writer)
        #expect(try await iterator.next().map(Self.text) == "1")
        proxy.cut()
        let error = await #expect(throws: GraphQLClientError.self) { while try await iterator.next() != nil {} }
        #expect(error?.code == .connectionLost)
        try await Self.write("2", writer)
        let cursor = try #require(error?.cursor)
        for try await event in client.subscribe(Self.document, from: SubscriptionStart(after: cursor)) {
          #expect(Self.text(event) == "2")
          break
        }
        client.shutDown()
      }
    }
  }
#endif
