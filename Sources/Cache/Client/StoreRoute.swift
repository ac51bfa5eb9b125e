internal import MartletGraphQLClient
internal import MartletGraphQLStore
internal import MartletJSON

/// Operations by way of a client's store: queries under a policy, and answers and events that are written to it.
struct StoreRoute: Sendable {
  let store: GraphQLStore
  let slot: StoreSlot
  let transport: any NetworkTransport

  func results<Query: GraphQLQuery>(
    of query: Query, _ policy: CachePolicy, _ allowingPartial: Bool
  ) throws -> StoreResults {
    let request = try OperationRequest(query)
    return store.results(
      for: request.stored, policy: policy, allowingPartial: allowingPartial, fetch: fetching(request))
  }

  func lastResult<Query: GraphQLQuery>(
    of query: Query, _ policy: CachePolicy, _ allowingPartial: Bool
  ) async throws -> GraphQLResponse<Query.Data> {
    var last: GraphQLResponse<Query.Data>?
    for try await result in try results(of: query, policy, allowingPartial) { last = try GraphQLResponse(result) }
    return last ?? GraphQLResponse(data: nil, errors: [], extensions: JSONObject(), cursor: nil, gap: nil)
  }

  func fetching(_ request: OperationRequest) -> StoreFetch {
    return {
      var request = request
      request.document = try store.requestDocument(for: request.document)
      return StorePayload(try await transport.send(request).value)
    }
  }

  func written<Data: Decodable & Sendable>(
    _ request: OperationRequest, writesStore: Bool, ending update: OptimisticUpdate?
  ) async throws -> GraphQLResponse<Data> {
    let prepared = try store.prepare(request.stored)
    let generation = store.generation
    let payload = try await fetching(request)()
    let failure = writesStore ? prepared.keep(payload, ending: update, since: generation) : nil
    var response: GraphQLResponse<Data> = try GraphQLResponse(try prepared.projected(payload))
    response.storeError = failure
    return response
  }

  /// Runs a mutation while watchers see what is expected of it.
  func written<Data: Decodable & Sendable>(
    _ request: OperationRequest, expecting expected: @escaping @Sendable (ReadWriteTransaction) throws -> Void
  ) async throws -> GraphQLResponse<Data> {
    let update = try store.updateOptimistically(expected)
    do {
      return try await written(request, writesStore: true, ending: update)
    } catch {
      try? update.rollBack()
      throw error
    }
  }

  /// Starts a subscription whose events are written to the store.
  func events<Data: Decodable & Sendable>(
    of request: OperationRequest
  ) throws -> SubscriptionStream<GraphQLResponse<Data>> {
    let prepared = try store.prepare(request.stored)
    var request = request
    request.document = try store.requestDocument(for: request.document)
    return transport.events(of: request, emptying: slot) { event in
      var response: GraphQLResponse<Data> = try GraphQLResponse(event)
      if event.gap == nil {
        response.storeError = prepared.keep(StorePayload(try OperationPayload(bytes: event.payload).value))
      }
      return response
    }
  }
}

extension OperationRequest {
  var stored: StoreOperation {
    StoreOperation(document: document, operationName: operationName, variables: variables)
  }
}

extension StorePayload {
  init(_ response: JSONValue) {
    self.init(
      data: response["data"], errors: response["errors"]?.array ?? [],
      extensions: response["extensions"]?.object ?? JSONObject())
  }
}

extension GraphQLResponse where Data: Decodable {
  init(_ result: StoreResult) throws(GraphQLClientError) {
    self.init(
      data: nil, errors: result.errors.map { GraphQLServerError($0) }, extensions: result.extensions, cursor: nil,
      gap: nil)
    source = result.source == .cache ? .cache : .server
    missing = result.missing
    fetchError = result.fetchError
    storeError = result.storeError
    data = try Self.decoded(result.data)
  }
}
