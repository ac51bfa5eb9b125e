public import MartletGraphQLStore
public import MartletJSON
internal import MartletRuntime

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
    return inParts(request) { partial in
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
    return inParts(request) { partial in
      try GraphQLResponse(SubscriptionEvent(payload: partial.serialized()))
    } running: { request, show in
      show(try GraphQLResponse(SubscriptionEvent(payload: try await transport.send(request).bytes)))
    }
  }

  /// Results of a request: what `read` makes of every part but the last, and what `run` shows, which is the whole.
  private func inParts<Data: Sendable>(
    _ request: OperationRequest, read: @escaping @Sendable (JSONValue) throws -> GraphQLResponse<Data>,
    running run: @escaping @Sendable (OperationRequest, @Sendable (GraphQLResponse<Data>) -> Void) async throws -> Void
  ) -> AsyncThrowingStream<GraphQLResponse<Data>, any Error> {
    let (stream, results) = AsyncThrowingStream.makeStream(
      of: GraphQLResponse<Data>.self, bufferingPolicy: .bufferingNewest(Self.waitingParts))
    var asked = request
    asked.onPart = { part in
      // What `Data` cannot hold yet is left out.
      guard part.hasNext, var response = try? read(part.result) else { return }
      response.hasNext = true
      results.yield(response)
    }
    let sent = asked
    let task = ConcurrentSpawner().spawn {
      do {
        try await run(sent) { results.yield($0) }
        results.finish()
      } catch {
        results.finish(throwing: error)
      }
    }
    results.onTermination = { end in
      if case .cancelled = end { task.cancel() }
    }
    return stream
  }

  /// Results in parts that wait for their consumer; each has everything of the ones before, which are left out first.
  private static var waitingParts: Int { 8 }
}
