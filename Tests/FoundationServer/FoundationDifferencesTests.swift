import Foundation
import Martlet
import MartletFoundationNetwork
import MartletServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking

  /// What Foundation on Linux does otherwise than on Apple platforms, as the adapters expect it. A row that turns red
  /// has been mended there: the adapter, and docs/guides/apple.md, can be simpler.
  @Suite(.timeLimit(.minutes(1))) struct FoundationDifferencesTests {
    private static func with(_ body: (GraphQLServer) async throws -> Void) async throws {
      var configuration = ServerConfiguration(schema: "type Note @model { id: ID! text: String }")
      configuration.data = .memory
      configuration.access = .development
      configuration.log = .silent
      configuration.port = 0
      configuration.endpoints.append(
        try ServerEndpoint("/moved", methods: ["GET", "POST"], bodyBytes: 1_000) { _, response in
          await response.send(307, headers: [("Location", "/graphql")], body: [])
        })
      let server = try GraphQLServer(configuration)
      try server.start()
      do { try await body(server) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }

    @Test func `close codes of applications have no case`() {
      #expect(URLSessionWebSocketTask.CloseCode(rawValue: 4400) == nil)
      #expect(URLSessionWebSocketTask.CloseCode(rawValue: 1000) == .normalClosure)
    }

    @Test func `a WebSocket fails at once, because the library was built without them`() async throws {
      try await Self.with { server in
        var configuration = ConnectionConfiguration()
        configuration.reconnect = .never
        let url = try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql"))
        let client = try GraphQLClient(
          url: url, configuration: configuration,
          environment: FoundationEnvironment.shared.withSockets(.martlet, on: FoundationEnvironment.loop))
        let notes = client.subscribe("subscription { onCreateNote { text } }")
        let error = await #expect(throws: GraphQLClientError.self) { try await notes.ready() }
        #expect(error?.code == .connectFailed)
        client.shutDown()
      }
    }

    @Test func `the proxies of a session's configuration are ignored`() async throws {
      try await Self.with { server in
        let sessions = URLSessionConfiguration.martlet
        sessions.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1]
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/graphql"))
        let client = try GraphQLClient(url: url, environment: FoundationEnvironment.make(sessions: sessions))
        #expect(try await client.query("{ __typename }").errors.isEmpty)
        client.shutDown()
      }
    }

    @Test func `a redirect is left to the client, which sends a query again and a mutation not`() async throws {
      try await Self.with { server in
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/moved"))
        let client = try GraphQLClient(url: url, environment: FoundationEnvironment.shared)
        #expect(try await client.query("{ __typename }").data?["__typename"] == "Query")
        let error = await #expect(throws: GraphQLClientError.self) {
          try await client.mutate("mutation { createNote(input: {}) { id } }")
        }
        #expect(error?.status == 307)
        client.shutDown()
      }
    }
  }
#endif
