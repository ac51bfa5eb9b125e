import Foundation
import Martlet
import MartletRuntime
import MartletServer
import Testing

/// The calls in the guides for moving from Apollo iOS and from Amplify API, with a server.
@Suite(.timeLimit(.minutes(1))) struct MigrationCallTests {
  private static func with(_ schema: String, _ body: (_ http: URL, _ socket: URL) async throws -> Void) async throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    let server = try GraphQLServer(configuration)
    try server.start()
    let (http, socket) = ("http://127.0.0.1:\(server.port)/graphql", "ws://127.0.0.1:\(server.port)/graphql")
    do {
      try await body(try #require(URL(string: http)), try #require(URL(string: socket)))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private static let reviews = "type Review @model { id: ID! episode: String! stars: Int! }"

  private static func withReviews(_ body: (ApolloCalls) async throws -> Void) async throws {
    try await with(reviews) { http, socket in
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("calls-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      let calls = try ApolloCalls(http: http, socket: socket, cache: file) { "token" }
      try await body(calls)
      calls.client.shutDown()
    }
  }

  @Test func `every cache policy of Apollo iOS fetches the list`() async throws {
    try await Self.withReviews { calls in
      for stars in 1...2 { try await calls.add("JEDI", stars: stars) }
      #expect(try await calls.fetches() == Array(repeating: 2, count: 8))
      #expect(try await calls.all(pageSize: 1).map(\.stars).sorted() == [1, 2])
    }
  }

  @Test func `a watcher shows what is fetched again, and a mutation's expectation at once`() async throws {
    try await Self.withReviews { calls in
      try await calls.add("JEDI", stars: 1)
      let (seen, report) = AsyncStream.makeStream(of: Int.self)
      let watching = calls.watchWithClosure { report.yield($0) }
      var counts = seen.makeAsyncIterator()
      #expect(await counts.next() == 1)
      try await calls.addAtOnce("JEDI", stars: 2)
      #expect(await counts.next() == 2)
      try await calls.add("JEDI", stars: 3)
      try await calls.refetch()
      // The expectation is taken back before the list is fetched.
      while let count = await counts.next(), count != 3 {}
      watching.cancel()
    }
  }

  @Test func `the store is read, edited and emptied by the calls in place of Apollo's`() async throws {
    try await Self.withReviews { calls in
      try await calls.add("JEDI", stars: 1)
      let list = try await calls.client.fetch(query: ReviewList(), cachePolicy: .networkOnly)
      let id = try #require(list.data?.listReviews.items.first?.id)
      #expect(try await calls.editStore(id) == 1)
      let edited = try await calls.client.fetch(query: ReviewList(), cachePolicy: .cacheOnly)
      #expect(edited.data?.listReviews.items.map(\.stars) == [5])
      try calls.forget(id)
      #expect(try await calls.client.fetch(query: ReviewList(), cachePolicy: .cacheOnly).data == nil)
    }
  }

  @Test func `a subscription with a closure shows events, also after the pause of an application`() async throws {
    try await Self.withReviews { calls in
      let (seen, report) = AsyncStream.makeStream(of: Int.self)
      let following = calls.follow { report.yield($0) }
      var stars = seen.makeAsyncIterator()
      let adding = Task { while !Task.isCancelled { try await calls.add("JEDI", stars: 1) } }
      #expect(await stars.next() == 1)
      adding.cancel()
      _ = await adding.result
      calls.toBackground()
      try await calls.add("JEDI", stars: 5)
      calls.toForeground()
      while let star = await stars.next(), star != 5 {}
      following.cancel()
    }
  }

  @Test func `an error has words for each of its kinds`() async throws {
    try await Self.with(Self.reviews) { http, _ in
      let nothing = http.deletingLastPathComponent().appendingPathComponent("nothing")
      let client = try GraphQLClient(url: nothing)
      let error = await #expect(throws: GraphQLClientError.self) { try await client.fetch(query: ReviewList()) }
      #expect(try ApolloCalls.words(for: #require(error)) == "the server answered with 404")
      #expect(try AmplifyCalls.words(for: #require(error)) == "404")
    }
  }

  @Test func `a model of two key fields is read with its relation, on the client that is named`() async throws {
    let schema = """
      type Voyage @model {
        year: Int! @primaryKey(sortKeyFields: ["number"])
        number: String!
        left: AWSDateTime
        shipID: ID
        ship: Ship @belongsTo(fields: ["shipID"])
      }
      type Ship @model { id: ID! name: String! }
      """
    try await Self.with(schema) { _, socket in
      let seen = Lock<[String]>([])
      let client = try AmplifyCalls.client(
        socket,
        interceptor: ObservingInterceptor { event in
          if case .sent(let request) = event { seen.withLock { $0.append("\(request.kind)") } }
        })
      let documents = [
        "mutation { createShip(input: {id: \"a\", name: \"Ark\"}) { id } }",
        #"mutation { createVoyage(input: {year: 1, number: "7", left: "1970-01-01T00:00:00Z", shipID: "a"}) { number } }"#,
      ]
      for document in documents { try await client.mutate(document) }
      let voyage = try #require(try await AmplifyCalls.voyage(1, "7", on: client))
      #expect(voyage.ship?.name == "Ark" && voyage.left == Date(timeIntervalSince1970: 0))
      #expect(try await AmplifyCalls.voyage(1, "8", on: client) == nil)
      let names = try await Martlet.withClient(client) {
        let first = try await AmplifyCalls.rename(Ship(id: "a", name: "Bark"), from: "Ark")
        return [first, try await AmplifyCalls.rename(Ship(id: "a", name: "Carp"), from: "Ark")]
      }
      #expect(names.first == "Bark" && names.last != "Carp")
      #expect(seen.withLock { $0 } == ["mutation", "mutation", "query", "query", "mutation", "mutation"])
      client.shutDown()
    }
  }
}
