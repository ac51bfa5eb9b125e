internal import MartletRuntime

/// Results of a client's operations, taken apart into records, so that each object is kept once and every query that
/// shows it sees its changes.
///
/// ```swift
/// var configuration = GraphQLStoreConfiguration()
/// configuration.keyFields["Airport"] = ["code"]
/// let store = GraphQLStore(cache: InMemoryNormalizedCache(), configuration: configuration)
/// ```
///
/// Calls do their work on the calling thread, one at a time.
public final class GraphQLStore: Sendable {
  /// How the store was set up.
  public let configuration: GraphQLStoreConfiguration

  /// A store in memory with the defaults.
  public convenience init() {
    self.init(cache: InMemoryNormalizedCache())
  }

  /// A store over a cache, which is the store's alone from now on.
  public init(
    cache: sending any NormalizedCache, configuration: GraphQLStoreConfiguration = GraphQLStoreConfiguration()
  ) {
    self.configuration = configuration
  }

  // MARK: For the client

  /// The text to send for a document: with `__typename`, and key fields where the schema knows them. Kept per document.
  package func requestDocument(for document: String) throws(GraphQLStoreError) -> String {
    document
  }

  /// The results of an operation under a policy. `fetch` asks the network; what it answers is written to the store.
  package func results(
    for operation: StoreOperation, policy: CachePolicy, allowingPartial: Bool = false, fetch: @escaping StoreFetch
  ) -> StoreResults {
    StoreResults(store: self, operation: operation, policy: policy, allowsPartial: allowingPartial, fetch: fetch)
  }

  /// The results of an operation under a policy, and then every change of it in the store. `fetch` is also asked when
  /// a change leaves the result without data it needs, unless the policy is `cacheOnly`.
  package func watch(
    _ operation: StoreOperation, policy: CachePolicy, allowingPartial: Bool = false, fetch: @escaping StoreFetch
  ) -> StoreWatch {
    StoreWatch(results: results(for: operation, policy: policy, allowingPartial: allowingPartial, fetch: fetch))
  }

  /// Writes what a server sent: the result of a query or mutation, or one event of a subscription. Watchers hear of it.
  package func publish(_ payload: StorePayload, of operation: StoreOperation) throws(GraphQLStoreError) {
  }

  /// What the store has for an operation. Nil when something is missing, unless partial data are allowed and there are
  /// any.
  package func read(
    _ operation: StoreOperation, allowingPartial: Bool = false
  ) throws(GraphQLStoreError) -> StoreResult? {
    nil
  }
}
