// Operations of generated or hand-written types. Programs that import `Martlet` or `MartletCache` have forms with a
// cache policy, which are preferred there.

extension GraphQLClient {
  /// Runs a query and returns the server's result.
  ///
  ///     let hero = try await client.fetch(query: HeroQuery(episode: .jedi))
  ///
  /// - Throws: `GraphQLClientError`, or `CancellationError` when the task is cancelled.
  @_disfavoredOverload
  public func fetch<Query: GraphQLQuery>(query: Query) async throws -> GraphQLResponse<Query.Data> {
    try await networkTransport.response(to: try OperationRequest(query))
  }

  /// Runs a mutation, at most once.
  ///
  /// - Parameters:
  ///   - mutation: what is done, with its variables.
  ///   - appliesOnce: the mutation carries a number, so that it is repeated when its answer is lost, and applies once
  ///     all the same.
  /// - Throws: `GraphQLClientError`; `outcomeUnknown` when the answer was lost and it may not be repeated.
  @discardableResult
  @_disfavoredOverload
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, appliesOnce: Bool = false
  ) async throws -> GraphQLResponse<Mutation.Data> {
    var request = try OperationRequest(mutation)
    request.appliesOnce = appliesOnce
    return try await networkTransport.response(to: request)
  }

  /// Runs an operation with files. Each file stands in the variables under its `fieldName`.
  /// - Throws: as `perform`, and `invalidRequest` when the transport cannot send files.
  @discardableResult
  public func upload<Operation: GraphQLOperation>(
    operation: Operation, files: [GraphQLFile]
  ) async throws -> GraphQLResponse<Operation.Data> {
    guard let uploads = networkTransport as? any UploadingNetworkTransport else {
      throw GraphQLClientError(.invalidRequest, "the client's transport cannot send files")
    }
    let payload = try await uploads.upload(try OperationRequest(operation), files: files)
    return try GraphQLResponse(payload)
  }

  /// Starts a subscription and returns its stream at once; see `SubscriptionStream`.
  ///
  ///     let reviews = try client.subscribe(subscription: ReviewAddedSubscription())
  ///     for try await result in reviews { … }
  ///
  /// - Parameters:
  ///   - subscription: what is followed, with its variables.
  ///   - beginning: where it begins, on servers that give cursors.
  /// - Throws: `invalidRequest` for variables that cannot be written.
  @_disfavoredOverload
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, from beginning: SubscriptionStart = .now
  ) throws -> SubscriptionStream<GraphQLResponse<Subscription.Data>> {
    var request = try OperationRequest(subscription)
    request.start = beginning
    return networkTransport.events(of: request, emptying: storeSlot)
  }
}
