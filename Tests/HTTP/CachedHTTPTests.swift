import Foundation
import MartletCache
import MartletHTTP
import MartletRuntime
import MartletServer
import Testing

/// The store of a program that has no WebSockets.
@Suite(.timeLimit(.minutes(1))) struct CachedHTTPTests {
  private struct CountQuery: GraphQLQuery {
    static let operationName = "Count"
    static let operationDocument = "query Count { box { id count } }"
    struct Data: Codable, Hashable, Sendable {
      struct Box: Codable, Hashable, Sendable {
        var id: String
        var count: Int
      }
      var box: Box?
    }
  }

  private struct AddMutation: GraphQLMutation {
    static let operationName = "Add"
    static let operationDocument = "mutation Add { add { id count } }"
    struct Data: Codable, Hashable, Sendable { var add: CountQuery.Data.Box? }
  }

  /// Counts how often each field is asked for.
  private func serving(_ body: (GraphQLClient, Lock<Int>) async throws -> Void) async throws {
    let (asked, count) = (Lock(0), Lock(1))
    var configuration = ServerConfiguration(
      schema: "type Query { box: Box } type Mutation { add: Box } type Box { id: ID! count: Int! }")
    configuration.access = .development
    configuration.log = .silent
    configuration.port = 0
    configuration.loops = 1
    configuration.resolvers = { resolvers in
      resolvers.compute("Query", "box") { _ in
        asked.withLock { $0 += 1 }
        return ["id": "1", "count": .int(Int64(count.withLock { $0 }))] as JSONValue
      }
      resolvers.compute("Mutation", "add") { _ in
        let now = count.withLock { count in
          count += 1
          return count
        }
        return ["id": "1", "count": .int(Int64(now))] as JSONValue
      }
    }
    let server = try GraphQLServer(configuration)
    try server.start()
    let client = try GraphQLClient(url: try #require(URL(string: "http://127.0.0.1:\(server.port)/graphql")))
    do { try await body(client, asked) } catch {
      await server.stop()
      throw error
    }
    client.shutDown()
    await server.stop()
  }

  @Test func `with MartletCache typed operations go by way of a store, without policies named too`() async throws {
    try await serving { client, asked in
      #expect(try await client.fetch(query: CountQuery()).source == .server)
      #expect(try await client.fetch(query: CountQuery()).source == .cache)
      #expect(asked.withLock { $0 } == 1)
      #expect(try await client.fetch(query: CountQuery(), cachePolicy: .networkOnly).data?.box?.count == 1)
      #expect(asked.withLock { $0 } == 2)
      var watch = try client.watch(query: CountQuery()).makeAsyncIterator()
      #expect(try await watch.next()?.data?.box?.count == 1)
      try await client.perform(mutation: AddMutation())
      #expect(try await watch.next()?.data?.box?.count == 2)
      #expect(asked.withLock { $0 } == 2)
      #expect(client.store.usage.records > 0)
      // Not by way of the store, so that the watcher has something new to show after it was emptied.
      try await client.mutate("mutation { add { id } }")
      try client.clearCache()
      #expect(try await watch.next()?.data?.box?.count == 3)
      #expect(asked.withLock { $0 } == 3)
    }
  }

  @Test func `a client has one store, the one that it was given or the first one made for it`() async throws {
    let transport = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(interceptors: []),
      endpointURL: try #require(URL(string: "http://127.0.0.1:9/graphql")))
    let client = GraphQLClient(networkTransport: transport)
    let stores = await withTaskGroup(of: GraphQLStore.self) { group in
      for _ in 0..<32 { group.addTask { client.store } }
      return await group.reduce(into: [GraphQLStore]()) { $0.append($1) }
    }
    #expect(stores.count == 32 && stores.allSatisfy { $0 === client.store })
    let store = GraphQLStore()
    #expect(GraphQLClient(networkTransport: transport, store: store).store === store)
  }
}
