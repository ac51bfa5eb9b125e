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
    private let results: StoreResults
    private var steps: PolicySteps
    private var prepared: RepeatedOperation?

    init(results: StoreResults) {
      self.results = results
      steps = PolicySteps(results.policy)
    }

    /// The next result, or nil when the policy has no more.
    /// - Throws: what `fetch` throws, `GraphQLStoreError`, and `CancellationError` when the task was cancelled.
    package mutating func next() async throws -> StoreResult? {
      if steps.next == .over { return nil }
      try Task.checkCancellation()
      let operation = try prepared ?? results.store.prepare(results.operation)
      prepared = operation
      if steps.next == .cache {
        let found = try operation.read(allowingPartial: results.allowsPartial)
        steps.read(isComplete: found?.isPartial == false)
        if let found { return found }
        if results.policy == .cacheOnly, let failure = results.store.cacheFailure { throw failure }
      }
      guard steps.next == .network else { return nil }
      steps.asked()
      do {
        let generation = results.store.generation
        let payload = try await results.fetch()
        let failure = results.policy.writesStore ? operation.keep(payload, since: generation) : nil
        var result = try operation.projected(payload)
        result.storeError = failure
        return result
      } catch let error as CancellationError {
        throw error
      } catch {
        guard results.policy == .networkFirst,
          var found = try operation.read(allowingPartial: results.allowsPartial)
        else { throw error }
        found.fetchError = error
        return found
      }
    }
  }
}

/// What a policy does next.
struct PolicySteps {
  enum Step { case cache, network, over }
  private let policy: CachePolicy
  private(set) var next: Step

  init(_ policy: CachePolicy) {
    self.policy = policy
    switch policy {
    case .cacheFirst, .cacheOnly, .cacheAndNetwork: next = .cache
    case .networkFirst, .networkOnly, .noCache: next = .network
    }
  }

  /// The store was read.
  mutating func read(isComplete: Bool) {
    switch policy {
    case .cacheOnly: next = .over
    case .cacheFirst: next = isComplete ? .over : .network
    case .cacheAndNetwork, .networkFirst, .networkOnly, .noCache: next = .network
    }
  }

  /// A watcher lacks something.
  mutating func askAgain() {
    next = .network
  }

  /// The network was asked.
  mutating func asked() {
    next = .over
  }
}
