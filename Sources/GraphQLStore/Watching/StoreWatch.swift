/// The results of an operation under a policy, and then every change of it in the store, until the consumer stops.
///
/// A result is read when the consumer asks for the next one: changes in between are one, and a change that leaves the
/// result as it was is none. Each iterator is a watcher of its own, which the store forgets when the iterator is gone
/// or its task is cancelled.
package struct StoreWatch: AsyncSequence, Sendable {
  package typealias Element = StoreResult
  package typealias Failure = any Error

  let results: StoreResults

  package func makeAsyncIterator() -> Iterator { Iterator(watcher: Watcher(results)) }

  /// One watcher.
  package struct Iterator: AsyncIteratorProtocol {
    let watcher: Watcher

    /// The next result that differs from the last one. Nil once the task is cancelled.
    /// - Throws: when the first request fails and nothing was shown yet, what `fetch` throws; `GraphQLStoreError`.
    package mutating func next() async throws -> StoreResult? { try await watcher.next() }
  }
}
