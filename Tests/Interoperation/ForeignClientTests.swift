import Foundation
import MartletJSON
import MartletServer
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The Python package gql against our server, in every dialect it speaks.
@Suite(.enabled(if: Peers.areInstalled, Peers.missing), .timeLimit(.minutes(3))) struct ForeignClientTests {
  static let dialects = ["transport-ws", "legacy", "appsync", "multipart"]

  private static let schema = """
    type Note @model { id: ID! text: String }
    extend type Query { fails: String }
    type Subscription { tick(upTo: Int!, failAt: Int): Int forever: Int }
    """

  /// Sources that have not been told to stop.
  private final class Sources: Sendable {
    let running = Mutex(0)
    let ended: AsyncStream<Void>
    private let tell: AsyncStream<Void>.Continuation

    init() {
      (ended, tell) = AsyncStream<Void>.makeStream()
    }

    func began() { running.withLock { $0 += 1 } }
    func stopped() {
      running.withLock { $0 -= 1 }
      tell.yield()
    }
  }

  private static func server(_ sources: Sources = Sources(), port: Int = 0) throws -> GraphQLServer {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.port = port
    configuration.resolvers = { resolvers in
      resolvers.resolve("Query", "fails") { _ -> String? in throw ResolverError("it failed") }
      resolvers.stream("Subscription", "tick") { request in
        let last = request.arguments["upTo"]?.int ?? 0
        let failing = request.arguments["failAt"]?.int
        return AsyncThrowingStream<JSONValue, any Error> { continuation in
          for number in 1...max(1, last) {
            if number == failing { return continuation.finish(throwing: ResolverError("it failed at \(number)")) }
            continuation.yield(.int(number))
          }
          continuation.finish()
        }
      }
      resolvers.stream("Subscription", "forever") { _ in
        sources.began()
        return AsyncStream<JSONValue> { continuation in
          let task = Task {
            var number: Int64 = 0
            while !Task.isCancelled {
              number += 1
              continuation.yield(.int(number))
              try? await Task.sleep(for: .milliseconds(5))
            }
          }
          continuation.onTermination = { _ in
            task.cancel()
            sources.stopped()
          }
        }
      }
    }
    let server = try GraphQLServer(configuration)
    try server.start()
    return server
  }

  private struct Told {
    var values: [JSONValue]
    var errors: [String]
    var ending: String?
  }

  private static func run(_ dialect: String, _ scenario: String, _ server: GraphQLServer) async throws -> Told {
    let printed = try await Peers.run("client.py", [dialect, "http://127.0.0.1:\(server.port)/graphql", scenario])
    let told = try JSONValue(parsing: String(decoding: printed, as: UTF8.self))
    return Told(
      values: told["values"]?.array ?? [], errors: (told["errors"]?.array ?? []).compactMap(\.string),
      ending: told["ending"]?.string)
  }

  private static func with(
    _ sources: Sources = Sources(), _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    let server = try server(sources)
    do { try await body(server) } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test(arguments: dialects)
  func `values arrive in order and the stream completes`(dialect: String) async throws {
    try await Self.with { server in
      let told = try await Self.run(dialect, "values", server)
      #expect(told.values == [["tick": 1], ["tick": 2], ["tick": 3]])
      #expect(told.ending == "completed" && told.errors == [])
    }
  }

  @Test(arguments: dialects)
  func `a source that fails tells the client after its values`(dialect: String) async throws {
    try await Self.with { server in
      let told = try await Self.run(dialect, "failing", server)
      #expect(told.values.first == ["tick": 1])
      #expect(told.ending == "failed" && told.errors.contains { $0.contains("failed at 2") }, "\(told)")
    }
  }

  @Test(arguments: dialects)
  func `a subscription that cannot be is refused by its rule`(dialect: String) async throws {
    try await Self.with { server in
      let told = try await Self.run(dialect, "refused", server)
      #expect(told.values == [] && told.ending == "failed")
      #expect(told.errors.contains { $0.contains("nothing") }, "\(told)")
    }
  }

  @Test(arguments: dialects)
  func `who leaves stops the server's source`(dialect: String) async throws {
    let sources = Sources()
    try await Self.with(sources) { server in
      let told = try await Self.run(dialect, "cancelled", server)
      try #require(told.values == [["forever": 1], ["forever": 2]] && told.ending == "left")
      for await _ in sources.ended { break }
      #expect(sources.running.withLock { $0 } == 0)
    }
  }

  @Test(arguments: dialects)
  func `a write of somebody else arrives, and after a restart the next`(dialect: String) async throws {
    let first = try Self.server()
    let port = first.port
    async let told = Self.run(dialect, "reconnect", first)
    try await Self.write("before", to: first)
    await first.stop()
    let second = try Self.server(port: port)
    try await Self.write("after", to: second)
    let values = try await told.values
    #expect(values == [["onCreateNote": ["text": "before"]], ["onCreateNote": ["text": "after"]]])
    await second.stop()
  }

  @Test func `queries, mutations and errors go over HTTP`() async throws {
    try await Self.with { server in
      let told = try await Self.run("http", "query", server)
      #expect(told.values == [["getNote": .null], ["createNote": ["text": "made"]]])
      #expect(told.errors == ["it failed"])
    }
  }

  /// Writes a note once there is a subscription, and waits until it has been delivered.
  private static func write(_ text: String, to server: GraphQLServer) async throws {
    while try await metric("martlet_subscriptions", of: server) == 0 { await Task.yield() }
    try await server.transaction { try $0.create("Note", ["text": .string(text)]) }
    while try await metric("martlet_feed_deliveries_total", of: server) == 0 { await Task.yield() }
  }

  private static func metric(_ name: String, of server: GraphQLServer) async throws -> Int {
    let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/metrics"))
    let text = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return try #require(Int(line?.split(separator: " ").last ?? ""))
  }
}
