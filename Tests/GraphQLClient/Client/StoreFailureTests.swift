import Martlet
import MartletRuntime
import Testing

/// A client whose store has a cache that cannot be written.
@Suite(.timeLimit(.minutes(1))) struct StoreFailureTests {
  private struct Full: Error {}

  /// Reads nothing and takes nothing.
  private final class FullCache: NormalizedCache {
    func record(for key: CacheKey) throws -> CacheEntry? { nil }
    func apply(_ changes: [CacheChange], at time: Duration) throws -> CacheDifference { throw Full() }
    func keys() throws -> [CacheKey] { [] }
    var usage: CacheUsage { CacheUsage(records: 0, bytes: 0) }
    func evict(
      toRecords: Int, bytes: Int, expiry: Duration?, isSpared: (CacheKey) -> Bool
    ) throws -> [CacheKey] { [] }
    func removeAll() throws { throw Full() }
  }

  private func client() -> (GraphQLClient, GatedTransport) {
    let transport = GatedTransport(Hero.answer)
    return (GraphQLClient(networkTransport: transport, store: GraphQLStore(cache: FullCache())), transport)
  }

  private func isFull<Data>(_ response: GraphQLResponse<Data>?) -> Bool {
    response?.storeError?.code == .backend && response?.storeError?.underlying is Full
  }

  @Test(arguments: [CachePolicy.cacheFirst, .networkFirst, .networkOnly, .cacheAndNetwork])
  func `a query's answer is returned with the failure beside it`(policy: CachePolicy) async throws {
    let (client, transport) = client()
    let answer = try await client.fetch(query: Hero.Query(), cachePolicy: policy)
    #expect(answer.data?.hero?.name == "R2-D2" && isFull(answer))
    // The failure has been reported; the server is asked again.
    let next = try await client.fetch(query: Hero.Query(), cachePolicy: policy)
    #expect(next.data == answer.data && next.source == .server && next.storeError == nil)
    #expect(transport.requests.count == 2)
  }

  @Test(arguments: [false, true])
  func `the answer to an executed mutation is returned with the failure beside it`(isOptimistic: Bool) async throws {
    let (client, transport) = client()
    let mutation = Hero.Rename(name: "BB-8")
    let answer =
      isOptimistic
      ? try await client.performOptimistically(mutation: mutation) { store in
        try store.setFields(["name": "BB-8?"], of: CacheKey("Hero:1"))
      } : try await client.perform(mutation: mutation)
    #expect(answer.data?.rename?.name == "BB-8" && isFull(answer))
    #expect(transport.requests.count == 1)
  }

  @Test func `a subscription's events arrive, and the first says that they are not kept`() async throws {
    let (client, transport) = client()
    let stream = try client.subscribe(subscription: Hero.Changed(), writesStore: true)
    var events = stream.makeAsyncIterator()
    let feed = try #require(transport.feeds.first)
    for name in ["BB-8", "R2-D2"] { feed.yield(OperationPayload(["data": ["heroChanged": Hero.hero(name)]])) }
    let first = try await events.next()
    #expect(first?.data?.heroChanged?.name == "BB-8" && isFull(first))
    let second = try await events.next()
    #expect(second?.data?.heroChanged?.name == "R2-D2" && second?.storeError == nil)
  }

  @Test func `a watcher shows what the server answers`() async throws {
    let (client, _) = client()
    var results = try client.watch(query: Hero.Query()).makeAsyncIterator()
    let shown = try await results.next()
    #expect(shown?.data?.hero?.name == "R2-D2" && isFull(shown))
  }
}
