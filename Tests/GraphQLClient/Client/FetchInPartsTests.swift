import Martlet
import Testing

/// Results in parts, as a client's caller sees them.
@Suite(.timeLimit(.minutes(1))) struct FetchInPartsTests {
  private struct Strict: GraphQLQuery {
    static let operationName = "Hero"
    static let operationDocument = "query Hero { hero { id ... @defer { name } } }"
    struct Data: Codable, Hashable, Sendable {
      struct Hero: Codable, Hashable, Sendable {
        var id: String
        var name: String
      }
      var hero: Hero
    }
  }

  /// Answers in two parts.
  private static func transport(_ failure: (any Error & Sendable)? = nil) -> GatedTransport {
    GatedTransport { request in
      let first: JSONValue = ["data": ["hero": ["__typename": "Hero", "id": "1"]]]
      try request.onPart?(OperationPart(payload: OperationPayload(first), number: 0, result: first, hasNext: true))
      if let failure { throw failure }
      let whole: JSONValue = ["data": ["hero": Hero.hero("Luke")]]
      try request.onPart?(OperationPart(payload: OperationPayload([:]), number: 1, result: whole, hasNext: false))
      return whole
    }
  }

  @Test func `partial results come first, and the whole, which alone is written to the store, last`() async throws {
    let client = GraphQLClient(networkTransport: Self.transport())
    var seen: [String] = []
    for try await result in try client.fetchInParts(query: Hero.Query()) {
      seen.append("\(result.data?.hero?.name ?? "-") \(result.hasNext) \(result.source)")
    }
    #expect(seen == ["- true server", "Luke false server"])
    let stored = try await client.fetch(query: Hero.Query(), cachePolicy: .cacheOnly)
    #expect(stored.data?.hero == Hero.Name(id: "1", name: "Luke"))
    seen = []
    for try await result in try client.fetchInParts(query: Hero.Query(), cachePolicy: .cacheAndNetwork) {
      seen.append("\(result.data?.hero?.name ?? "-") \(result.hasNext) \(result.source)")
    }
    #expect(seen == ["Luke false cache", "- true server", "Luke false server"])
  }

  @Test func `a partial result that the type cannot hold is left out`() async throws {
    let client = GraphQLClient(networkTransport: Self.transport())
    var seen: [String] = []
    for try await result in try client.fetchInParts(query: Strict()) { seen.append(result.data?.hero.name ?? "-") }
    #expect(seen == ["Luke"])
  }

  @Test func `a failure after the first part ends the sequence, and nothing is stored`() async throws {
    let client = GraphQLClient(networkTransport: Self.transport(GraphQLClientError(.connectionLost, "gone")))
    var seen = 0
    let error = await #expect(throws: GraphQLClientError.self) {
      for try await _ in try client.fetchInParts(query: Hero.Query()) { seen += 1 }
    }
    #expect(error?.code == .connectionLost)
    #expect(seen == 1)
    #expect(client.store.usage.records == 0)
  }

  @Test func `a document of one's own is answered in parts too, and has nothing to do with the store`() async throws {
    let client = GraphQLClient(networkTransport: Self.transport())
    let document = "query Hero { hero { id ... @defer { name } } }"
    var seen: [String] = []
    for try await result in client.queryInParts(document) {
      seen.append("\(result.data?["hero"]?["name"]?.string ?? "-") \(result.hasNext)")
    }
    #expect(seen == ["- true", "Luke false"])
    seen = []
    for try await result in client.queryInParts(document, as: Strict.Data.self) {
      seen.append(result.data?.hero.name ?? "-")
    }
    #expect(seen == ["Luke"])
    #expect(client.store.usage.records == 0)
  }

  @Test func `a document that is refused behind its first part ends the sequence with the error`() async throws {
    let client = GraphQLClient(networkTransport: Self.transport(GraphQLClientError(.connectionLost, "gone")))
    var seen = 0
    let error = await #expect(throws: GraphQLClientError.self) {
      for try await _ in client.queryInParts("query Hero { hero { id ... @defer { name } } }") { seen += 1 }
    }
    #expect(error?.code == .connectionLost && seen == 1)
  }
}
