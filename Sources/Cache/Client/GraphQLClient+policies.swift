public import MartletGraphQLClient
public import MartletGraphQLStore

// Operations of generated or hand-written types, by way of the store.

extension GraphQLClient {
  /// Runs a query under a cache policy and returns its last result: the store's, or the server's.
  ///
  ///     let hero = try await client.fetch(query: HeroQuery(episode: .jedi))
  ///
  /// - Parameters:
  ///   - query: what is asked, with its variables.
  ///   - cachePolicy: whether the store or the server is asked, and in which order.
  ///   - allowingPartial: takes from the store what it has, also when something is missing; see
  ///     `GraphQLResponse.missing`. Whatever may be missing must be optional in `Query.Data`.
  /// - Throws: what kept it from being answered; `GraphQLStoreError` for a document the store cannot work with.
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, allowingPartial: Bool = false
  ) async throws -> GraphQLResponse<Query.Data> {
    try await route.lastResult(of: query, cachePolicy, allowingPartial)
  }

  /// Runs a mutation, at most once, and writes what it answers to the store.
  ///
  /// - Parameters:
  ///   - mutation: what is done, with its variables.
  ///   - appliesOnce: the mutation carries a number, so that it is repeated when its answer is lost, and applies once
  ///     all the same.
  ///   - writesStore: whether the answer is written to the store.
  /// - Throws: `GraphQLClientError`; `outcomeUnknown` when the answer was lost and it may not be repeated.
  @discardableResult
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, appliesOnce: Bool = false, writesStore: Bool = true
  ) async throws -> GraphQLResponse<Mutation.Data> {
    var request = try OperationRequest(mutation)
    request.appliesOnce = appliesOnce
    return try await route.written(request, writesStore: writesStore, ending: nil)
  }

  /// Runs a mutation, and shows at once what is expected of it.
  ///
  ///     try await client.performOptimistically(mutation: Rename(id: "1", name: "BB-8")) { store in
  ///       try store.setFields(["name": "BB-8"], of: CacheKey("Hero:1"))
  ///     }
  ///
  /// - Parameters:
  ///   - mutation: what is done, with its variables.
  ///   - appliesOnce: as with `perform`.
  ///   - expected: writes what is expected. Watchers see it; the answer takes its place in one step, and it is taken
  ///     back when there is none. It runs again when something that it read changes; it must not do anything else.
  /// - Throws: as `perform`, and what `expected` throws, before anything is sent.
  @discardableResult
  public func performOptimistically<Mutation: GraphQLMutation>(
    mutation: Mutation, appliesOnce: Bool = false,
    expecting expected: @escaping @Sendable (ReadWriteTransaction) throws -> Void
  ) async throws -> GraphQLResponse<Mutation.Data> {
    var request = try OperationRequest(mutation)
    request.appliesOnce = appliesOnce
    return try await route.written(request, expecting: expected)
  }

  /// Starts a subscription and returns its stream at once; see `SubscriptionStream`.
  ///
  ///     let reviews = try client.subscribe(subscription: ReviewAddedSubscription())
  ///     for try await result in reviews { … }
  ///
  /// - Parameters:
  ///   - subscription: what is followed, with its variables.
  ///   - beginning: where it begins, on servers that give cursors.
  ///   - writesStore: whether events are written to the store, where watchers see them.
  /// - Throws: `invalidRequest` for variables that cannot be written.
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, from beginning: SubscriptionStart = .now, writesStore: Bool = false
  ) throws -> SubscriptionStream<GraphQLResponse<Subscription.Data>> {
    var request = try OperationRequest(subscription)
    request.start = beginning
    return writesStore ? try route.events(of: request) : networkTransport.events(of: request, emptying: storeSlot)
  }

  /// Runs a query under a policy, and then follows the store: a result for every change of what the query reads,
  /// from any writer. Changes that leave the result as it was are none; several between two results are one. It ends
  /// with its consumer.
  ///
  ///     for try await hero in try client.watch(query: HeroQuery()) { … }
  ///
  /// - Parameters:
  ///   - query: what is followed, with its variables.
  ///   - cachePolicy: how the first result is found.
  ///   - allowingPartial: shows also what the store has only a part of; see `fetch`.
  /// - Throws: `invalidRequest` for variables that cannot be written.
  public func watch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, allowingPartial: Bool = false
  ) throws -> QueryWatcher<Query> {
    let request = try OperationRequest(query)
    return QueryWatcher(
      store.watch(
        request.stored, policy: cachePolicy, allowingPartial: allowingPartial, fetch: route.fetching(request)))
  }

  /// Empties the client's store, optimistic updates as well: for signing out. Watchers are notified, and ask the server
  /// again unless they are `cacheOnly`.
  /// - Throws: `GraphQLStoreError` when the store's cache fails.
  public func clearCache() throws {
    try store.clear()
  }

  var route: StoreRoute { StoreRoute(store: store, slot: storeSlot, transport: networkTransport) }
}
