public import MartletGraphQLClient
internal import MartletGraphQLStore

/// A query's results as they change; see `GraphQLClient.watch`.
public struct QueryWatcher<Query: GraphQLQuery>: AsyncSequence, Sendable {
  /// One result.
  public typealias Element = GraphQLResponse<Query.Data>
  private let results: StoreWatch

  init(_ results: StoreWatch) {
    self.results = results
  }

  /// A watcher of its own, which the store forgets with the iterator or its task.
  public func makeAsyncIterator() -> Iterator { Iterator(results: results.makeAsyncIterator()) }

  /// Takes results, one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var results: StoreWatch.Iterator

    /// The next result that differs from the last one; nil once the task is cancelled.
    /// - Throws: when the first request fails and nothing was shown yet; `decodingFailed`.
    public mutating func next() async throws -> GraphQLResponse<Query.Data>? {
      guard let result = try await results.next() else { return nil }
      return try GraphQLResponse(result)
    }
  }
}
