public import MartletJSON

// Answers in parts: `@defer` and `@stream`.

extension GraphQLClient {
  /// Runs a query and shows what there is as it comes: every part of an answer that comes in parts (`@defer`,
  /// `@stream`) with everything before it, the whole last.
  ///
  ///     for try await profile in try client.fetchInParts(query: ProfileQuery()) {
  ///       show(profile.data, isWhole: !profile.hasNext)
  ///     }
  ///
  /// Each result replaces the one before. A consumer that is slow sees fewer of them, and the last one always; a
  /// partial result that `Query.Data` cannot hold, because something that is not optional is missing, is left out.
  /// - Throws: `invalidRequest` for variables that cannot be written. The sequence throws as `fetch`.
  @_disfavoredOverload
  public func fetchInParts<Query: GraphQLQuery>(
    query: Query
  ) throws -> AsyncThrowingStream<GraphQLResponse<Query.Data>, any Error> {
    parts(of: try OperationRequest(query))
  }

  /// Runs a query in a document of one's own and shows what there is as it comes, the whole last. As `query`, it has
  /// nothing to do with a store.
  ///
  ///     let document = "query Profile { hero { id ... @defer { friends { name } } } }"
  ///     for try await profile in client.queryInParts(document) { show(profile.data, isWhole: !profile.hasNext) }
  ///
  /// Each result replaces the one before; otherwise as `fetchInParts`. The sequence throws as `query`.
  public func queryInParts<Data: Decodable & Sendable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self
  ) -> AsyncThrowingStream<GraphQLResponse<Data>, any Error> {
    parts(of: OperationRequest(.query, document: document, operationName: operationName, variables: variables))
  }

  private func parts<Data: Decodable & Sendable>(
    of request: OperationRequest
  ) -> AsyncThrowingStream<GraphQLResponse<Data>, any Error> {
    let transport = networkTransport
    return PartialResults.of(request) { partial in
      try GraphQLResponse(SubscriptionEvent(payload: partial.serialized()))
    } running: { request, show in
      show(try await transport.response(to: request))
    }
  }
}
