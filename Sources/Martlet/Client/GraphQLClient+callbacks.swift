public import MartletCore
public import MartletGraphQLStore
internal import MartletRuntime

// The same operations with closures, which run on the main actor: they may touch views as they stand.

extension GraphQLClient {
  /// A closure's result.
  public typealias ResultHandler<Data: Sendable> = @MainActor (Result<GraphQLResponse<Data>, any Error>) -> Void

  /// Runs a query; the handler is called for each of its one or two results.
  /// - Returns: what cancels it. It is cancelled when nobody keeps this.
  @discardableResult
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, resultHandler: @escaping ResultHandler<Query.Data>
  ) -> OperationHandle {
    OperationHandle(resultHandler) { [self] handle in
      for try await result in try results(of: query, cachePolicy) {
        await handle(.success(try GraphQLResponse(result)))
      }
    }
  }

  /// Runs a mutation.
  /// - Returns: what cancels waiting for it.
  @discardableResult
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, resultHandler: @escaping ResultHandler<Mutation.Data>
  ) -> OperationHandle {
    OperationHandle(resultHandler) { [self] handle in await handle(.success(try await perform(mutation: mutation))) }
  }

  /// Starts a subscription; the handler is called for each event, and once with the error it ends with, if any.
  ///
  ///     subscription = client.subscribe(subscription: ReviewAddedSubscription()) { [weak self] result in … }
  ///
  /// - Returns: what cancels it, from any thread. It is cancelled when nobody keeps this.
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, resultHandler: @escaping ResultHandler<Subscription.Data>
  ) -> OperationHandle {
    do {
      let stream = try subscribe(subscription: subscription)
      return OperationHandle(resultHandler, leaving: { stream.cancel() }) { handle in
        for try await result in stream { await handle(.success(result)) }
      }
    } catch {
      return OperationHandle(resultHandler) { _ in throw error }
    }
  }

  /// Runs a query and follows the store; the handler is called for each result that differs from the one before.
  /// - Returns: what cancels it. It is cancelled when nobody keeps this.
  public func watch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, resultHandler: @escaping ResultHandler<Query.Data>
  ) -> OperationHandle {
    OperationHandle(resultHandler) { [self] handle in
      for try await result in try watch(query: query, cachePolicy: cachePolicy) { await handle(.success(result)) }
    }
  }
}

/// A running operation that answers a closure. Cancelling is possible from any thread and more than once; dropping the
/// last reference cancels, and the closure is let go when the operation ends.
public final class OperationHandle: Cancellable, Sendable {
  private let task: SpawnedTask
  private let isCancelled: Lock<Bool>
  private let leaving: @Sendable () -> Void

  init<Data: Sendable>(
    _ handler: @escaping GraphQLClient.ResultHandler<Data>, leaving: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable (@escaping GraphQLClient.ResultHandler<Data>) async throws -> Void
  ) {
    self.leaving = leaving
    let isCancelled = Lock(false)
    self.isCancelled = isCancelled
    let told: GraphQLClient.ResultHandler<Data> = { result in
      // Cancelled while this was on its way to the main actor: nothing is told any more.
      if !isCancelled.withLock({ $0 }) { handler(result) }
    }
    task = ConcurrentSpawner().spawn {
      do {
        try await work(told)
      } catch {
        if !(error is CancellationError) { await told(.failure(error)) }
      }
    }
  }

  deinit { cancel() }

  /// Ends the operation; the handler hears nothing more.
  public func cancel() {
    isCancelled.withLock { $0 = true }
    leaving()
    task.cancel()
  }
}
