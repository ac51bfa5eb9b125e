public import MartletGraphQLClient
public import MartletGraphQLStore

// Answers in parts: `@defer` and `@stream`.

extension GraphQLClient {
  /// Runs a query and shows what there is as it comes: what the store has, if the policy asks it, then every part of an
  /// answer that comes in parts (`@defer`, `@stream`) with everything before it, the whole last.
  ///
  ///     for try await profile in try client.fetchInParts(query: ProfileQuery()) {
  ///       show(profile.data, isWhole: !profile.hasNext)
  ///     }
  ///
  /// Each result replaces the one before. A consumer that is slow sees fewer of them, and the last one always; a
  /// partial result that `Query.Data` cannot hold, because something that is not optional is missing, is left out. The
  /// store is written once, when the answer is whole.
  /// - Throws: `invalidRequest` for variables that cannot be written. The sequence throws as `fetch`.
  public func fetchInParts<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default
  ) throws -> AsyncThrowingStream<GraphQLResponse<Query.Data>, any Error> {
    let request = try OperationRequest(query)
    let prepared = try store.prepare(request.stored)
    let store = store
    return PartialResults.of(request) { partial in
      try GraphQLResponse(try prepared.projected(StorePayload(partial)))
    } running: { [self] request, show in
      let answers = store.results(for: request.stored, policy: cachePolicy, fetch: route.fetching(request))
      for try await answer in answers { show(try GraphQLResponse(answer)) }
    }
  }
}
