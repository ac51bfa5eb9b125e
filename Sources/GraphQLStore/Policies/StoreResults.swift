/// Asks the network for an operation's result. Called when a policy says so, on the consumer's task.
package typealias StoreFetch = @Sendable () async throws -> StorePayload

/// The one or two results of an operation under a policy, made as they are asked for.
///
/// Nothing runs between two calls of `next()`: with `cacheAndNetwork` the request is sent when the consumer asks for
/// the second result. Each iterator runs the policy anew.
package struct StoreResults: AsyncSequence, Sendable {
  package typealias Element = StoreResult
  package typealias Failure = any Error

  let store: GraphQLStore
  let operation: StoreOperation
  let policy: CachePolicy
  let allowsPartial: Bool
  let fetch: StoreFetch

  package func makeAsyncIterator() -> Iterator {
    Iterator(results: self)
  }

  /// Where the policy stands.
  package struct Iterator: AsyncIteratorProtocol {
    private enum Step { case cache, network, over }
    private let results: StoreResults
    private var step: Step

    init(results: StoreResults) {
      self.results = results
      switch results.policy {
      case .cacheFirst, .cacheOnly, .cacheAndNetwork: step = .cache
      case .networkFirst, .networkOnly, .noCache: step = .network
      }
    }

    /// The next result, or nil when the policy has no more.
    /// - Throws: what `fetch` throws, `GraphQLStoreError`, and `CancellationError` when the task was cancelled.
    package mutating func next() async throws -> StoreResult? {
      if step == .over { return nil }
      try Task.checkCancellation()
      if step == .cache {
        let found = try results.read()
        switch results.policy {
        case .cacheOnly: step = .over
        case .cacheFirst: step = found.map { $0.isPartial } == false ? .over : .network
        case .cacheAndNetwork, .networkFirst, .networkOnly, .noCache: step = .network
        }
        if let found { return found }
        if step == .over { return nil }
      }
      step = .over
      return try await results.ask()
    }
  }

  private func read() throws -> StoreResult? {
    try store.read(operation, allowingPartial: allowsPartial)
  }

  private func ask() async throws -> StoreResult {
    let payload: StorePayload
    do {
      payload = try await fetch()
    } catch let error as CancellationError {
      throw error
    } catch {
      guard policy == .networkFirst, var found = try read() else { throw error }
      found.fetchError = error
      return found
    }
    if policy.writesStore { try store.publish(payload, of: operation) }
    return StoreResult(
      data: payload.data, errors: payload.errors, extensions: payload.extensions, source: .server)
  }
}
