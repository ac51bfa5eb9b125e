public import MartletGraphQLStore
public import MartletJSON

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

  /// Runs a query in a document of one's own and shows what there is as it comes, the whole last. As `query`, it has
  /// nothing to do with the store.
  ///
  ///     let document = "query Profile { hero { id ... @defer { friends { name } } } }"
  ///     for try await profile in client.queryInParts(document) { show(profile.data, isWhole: !profile.hasNext) }
  ///
  /// Each result replaces the one before; otherwise as `fetchInParts`. The sequence throws as `query`.
  public func queryInParts<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self
  ) -> AsyncThrowingStream<GraphQLResponse<Data>, any Error> {
    let request = OperationRequest(.query, document: document, operationName: operationName, variables: variables)
    let transport = networkTransport
    return PartialResults.of(request) { partial in
      try GraphQLResponse(SubscriptionEvent(payload: partial.serialized()))
    } running: { request, show in
      show(try await transport.response(to: request))
    }
  }
}
