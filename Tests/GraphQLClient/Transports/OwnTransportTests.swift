import Foundation
import Martlet
import Synchronization
import Testing

/// A transport of one's own, written with the public interface alone.
private final class Recorded: NetworkTransport {
  let requests = Mutex<[OperationRequest]>([])
  let cancelled = Mutex(0)
  let feeds = Mutex<[SubscriptionFeed]>([])
  let answer: @Sendable (OperationRequest) throws -> JSONValue

  init(_ answer: @escaping @Sendable (OperationRequest) throws -> JSONValue) {
    self.answer = answer
  }

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    requests.withLock { $0.append(request) }
    return OperationPayload(try answer(request))
  }

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    requests.withLock { $0.append(request) }
    feed.onCancel { [self] in cancelled.withLock { $0 += 1 } }
    feed.activate()
    feeds.withLock { $0.append(feed) }
  }
}

private struct HeroQuery: GraphQLQuery, Codable {
  static let operationName = "Hero"
  static let operationDocument = "query Hero($episode: String) { hero(episode: $episode) { id name } }"
  var episode: GraphQLNullable<String> = nil

  struct Data: Codable, Hashable, Sendable {
    var hero: Hero?
    struct Hero: Codable, Hashable, Sendable {
      var id: String
      var name: String
    }
  }
}

private struct Rename: GraphQLMutation, Codable {
  static let operationName = "Rename"
  static let operationDocument = "mutation Rename($name: String!) { rename(name: $name) { id name } }"
  var name: String

  struct Data: Codable, Hashable, Sendable {
    var rename: HeroQuery.Data.Hero?
  }
}

private struct HeroChanged: GraphQLSubscription {
  static let operationName = "HeroChanged"
  static let operationDocument = "subscription HeroChanged { heroChanged { id name } }"

  struct Data: Codable, Hashable, Sendable {
    var heroChanged: HeroQuery.Data.Hero?
  }
}

@Suite(.timeLimit(.minutes(1))) struct OwnTransportTests {
  private static func hero(_ name: String) -> JSONValue {
    ["__typename": "Hero", "id": "1", "name": .string(name)]
  }

  @Test func `a query is fetched once and then read from the store, with absent variables left out`() async throws {
    let transport = Recorded { _ in ["data": ["hero": Self.hero("R2-D2")]] }
    let client = GraphQLClient(networkTransport: transport)
    for _ in 0..<3 {
      let response = try await client.fetch(query: HeroQuery())
      #expect(response.data?.hero == HeroQuery.Data.Hero(id: "1", name: "R2-D2"))
    }
    _ = try await client.fetch(query: HeroQuery(episode: "JEDI"), cachePolicy: .noCache)
    let requests = transport.requests.withLock { $0 }
    #expect(requests.map(\.variables) == [[:], ["episode": "JEDI"]])
    #expect(requests.allSatisfy { $0.operationName == "Hero" && $0.kind == .query })
  }

  @Test func `a mutation and a subscription's event reach a watcher by way of the store`() async throws {
    let transport = Recorded { request in
      request.kind == .query
        ? ["data": ["hero": Self.hero("R2-D2")]]
        : ["data": ["rename": Self.hero(request.variables["name"]?.string ?? "")]]
    }
    let client = GraphQLClient(networkTransport: transport)
    var names = try client.watch(query: HeroQuery()).makeAsyncIterator()
    #expect(try await names.next()?.data?.hero?.name == "R2-D2")
    let renamed = try await client.perform(mutation: Rename(name: "BB-8"))
    #expect(renamed.data?.rename?.name == "BB-8")
    #expect(try await names.next()?.data?.hero?.name == "BB-8")
    let changes = try client.subscribe(subscription: HeroChanged(), writesStore: true)
    let feed = try #require(transport.feeds.withLock { $0.first })
    feed.yield(OperationPayload(["data": ["heroChanged": Self.hero("C-3PO")]]))
    var events = changes.makeAsyncIterator()
    #expect(try await events.next()?.data?.heroChanged?.name == "C-3PO")
    #expect(try await names.next()?.data?.hero?.name == "C-3PO")
    changes.cancel()
    #expect(transport.cancelled.withLock { $0 } == 1)
  }

  @Test func `a subscription goes through its states as the transport says`() async throws {
    let transport = Recorded { _ in .null }
    let client = GraphQLClient(networkTransport: transport)
    let stream = try client.subscribe(subscription: HeroChanged())
    #expect(stream.state.description == "active")
    let feed = try #require(transport.feeds.withLock { $0.first })
    feed.reconnect()
    #expect(stream.state.description == "reconnecting")
    feed.activate()
    feed.yield(OperationPayload(["data": ["heroChanged": .null]]))
    feed.finish()
    #expect(stream.state.description == "finished(completed)")
    var seen = 0
    for try await _ in stream { seen += 1 }
    #expect(seen == 1)
    #expect(transport.cancelled.withLock { $0 } == 0)
  }

  @MainActor @Test func `closures run on the main actor, and dropping the handle cancels`() async throws {
    let transport = Recorded { _ in .null }
    let client = GraphQLClient(networkTransport: transport)
    // No annotation: the closure changes a variable of the main actor.
    var names: [String?] = []
    let (told, tell) = AsyncStream<Void>.makeStream()
    var handle: OperationHandle? = client.subscribe(subscription: HeroChanged()) { result in
      names.append((try? result.get())?.data?.heroChanged?.name)
      tell.yield()
    }
    let feed = try #require(transport.feeds.withLock { $0.first })
    feed.yield(OperationPayload(["data": ["heroChanged": Self.hero("C-3PO")]]))
    for await _ in told { break }
    #expect(names == ["C-3PO"])
    handle?.cancel()
    handle?.cancel()
    handle = nil
    #expect(feed.isFinished)
    #expect(transport.cancelled.withLock { $0 } == 1)
  }

  @Test func `interceptors see every operation in their order, and only queries are asked again`() async throws {
    let failures = Mutex(2)
    let transport = Recorded { request in
      let fails = failures.withLock { left in
        left -= 1
        return left >= 0
      }
      if fails { throw GraphQLClientError(.connectionLost, "gone") }
      return ["data": ["hero": Self.hero("R2-D2")]]
    }
    let log = Mutex<[String]>([])
    let provider = DefaultInterceptorProvider(interceptors: [
      ObservingInterceptor { event in
        log.withLock { log in
          switch event {
          case .sent(let request): log.append("sent \(request.operationName ?? "")")
          case .part(_, let part): log.append("part \(part.number)")
          case .subscription: log.append("news")
          case .answered: log.append("answered")
          case .failed: log.append("failed")
          }
        }
      },
      RetryInterceptor(attempts: 3), HeaderInterceptor { _ in [(name: "X-Trace", value: "7")] },
    ])
    let client = GraphQLClient(networkTransport: InterceptedTransport(transport, provider: provider))
    _ = try await client.fetch(query: HeroQuery())
    #expect(transport.requests.withLock { $0.count } == 3)
    #expect(transport.requests.withLock { $0.allSatisfy { $0.headers.contains { $0.name == "X-Trace" } } })
    failures.withLock { $0 = 1 }
    await #expect(throws: GraphQLClientError.self) { try await client.perform(mutation: Rename(name: "x")) }
    #expect(transport.requests.withLock { $0.count } == 4)
    #expect(log.withLock { $0 } == ["sent Hero", "answered", "sent Rename", "failed"])
  }

  @Test func `a split transport sends each kind its own way`() async throws {
    let queries = Recorded { _ in ["data": ["hero": Self.hero("q")]] }
    let mutations = Recorded { _ in ["data": ["rename": Self.hero("m")]] }
    let subscriptions = Recorded { _ in .null }
    let client = GraphQLClient(
      networkTransport: SplitNetworkTransport(
        queryTransport: queries, mutationTransport: mutations, subscriptionTransport: subscriptions))
    _ = try await client.fetch(query: HeroQuery())
    _ = try await client.perform(mutation: Rename(name: "x"))
    let stream = try client.subscribe(subscription: HeroChanged())
    #expect(queries.requests.withLock { $0.map(\.kind) } == [.query])
    #expect(mutations.requests.withLock { $0.map(\.kind) } == [.mutation])
    #expect(subscriptions.requests.withLock { $0.map(\.kind) } == [.subscription])
    await #expect(throws: GraphQLClientError.self) { try await client.upload(operation: Rename(name: "x"), files: []) }
    stream.cancel()
  }
}
