/// The result of an operation and every change of it in the store, until the consumer stops.
package struct StoreWatch: AsyncSequence, Sendable {
  package typealias Element = StoreResult
  package typealias Failure = any Error

  let results: StoreResults

  package func makeAsyncIterator() -> StoreResults.Iterator { results.makeAsyncIterator() }
}
