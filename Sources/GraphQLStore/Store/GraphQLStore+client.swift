/// What the client asks of a store.
extension GraphQLStore {
  /// The text to send for a document: with `__typename`, and key fields where the schema knows them. Kept per document.
  package func requestDocument(for document: String) throws(GraphQLStoreError) -> String {
    try exclusively { try $0.document(document).requestText }
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

  /// Writes what a server sent: the result of a query or mutation, or one event of a subscription. Watchers are
  /// notified. With `ending`, an optimistic update is taken back in the same step.
  package func publish(
    _ payload: StorePayload, of operation: StoreOperation, ending update: OptimisticUpdate? = nil
  ) throws(GraphQLStoreError) {
    let failure = try exclusively { try $0.keep(payload, of: $0.bind(operation), ending: update?.number) }
    if let failure { throw failure }
  }

  /// Why the cache is off; nil while it works.
  package var cacheFailure: GraphQLStoreError? { (try? exclusively { $0.health.failure }) ?? nil }

  /// What the store has for an operation. Nil when something is missing, unless partial data are allowed and there are
  /// any; and while the cache is off.
  package func read(
    _ operation: StoreOperation, allowingPartial: Bool = false
  ) throws(GraphQLStoreError) -> StoreResult? {
    try exclusively { try $0.read($0.bind(operation), allowsPartial: allowingPartial) }
  }

  /// An operation that is used again and again, such as that of a subscription.
  package func prepare(_ operation: StoreOperation) throws(GraphQLStoreError) -> RepeatedOperation {
    RepeatedOperation(store: self, bound: try exclusively { try $0.bind(operation) })
  }
}

/// An operation bound to its variables once, for results that come often.
package struct RepeatedOperation: Sendable {
  let store: GraphQLStore
  let bound: BoundOperation

  /// Writes what a server sent; not when it was asked for in another `generation`.
  /// - Returns: why it could not be written; of a cache that is off, once until it works again.
  package func keep(
    _ payload: StorePayload, ending update: OptimisticUpdate? = nil, since generation: Int? = nil
  ) -> GraphQLStoreError? {
    do throws(GraphQLStoreError) {
      return try store.exclusively { $0.keep(payload, of: bound, ending: update?.number, since: generation) }
    } catch {
      return error
    }
  }

  /// As `keep`, for events of a benchmark or a test that must be written.
  /// - Throws: why it could not be written.
  package func publish(_ payload: StorePayload) throws(GraphQLStoreError) {
    if let error = keep(payload) { throw error }
  }

  /// What the store has, as `GraphQLStore.read`.
  package func read(allowingPartial: Bool = false) throws(GraphQLStoreError) -> StoreResult? {
    try store.exclusively { try $0.read(bound, allowsPartial: allowingPartial) }
  }

  /// A server's data without what only the store asked for.
  package func projected(_ payload: StorePayload) throws(GraphQLStoreError) -> StoreResult {
    let data = try store.exclusively { core in payload.data.map { Projector(bound, core.binder).project($0) } }
    return StoreResult(data: data, errors: payload.errors, extensions: payload.extensions, source: .server)
  }

  func read(watcher: Int, allowingPartial: Bool) throws(GraphQLStoreError) -> StoreResult? {
    try store.exclusively { try $0.read(bound, allowsPartial: allowingPartial, watcher: watcher) }
  }
}
