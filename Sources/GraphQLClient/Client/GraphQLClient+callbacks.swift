public import Foundation
public import MartletGraphQLStore

// The same operations with closures. They run on the main actor and may touch views as they stand; the forms with a
// queue run theirs there.

extension GraphQLClient {
  /// A closure's result, on the main actor.
  public typealias ResultHandler<Data: Sendable> = @MainActor (Result<GraphQLResponse<Data>, any Error>) -> Void
  /// A closure's result, on a queue.
  public typealias QueueHandler<Data: Sendable> = @Sendable (Result<GraphQLResponse<Data>, any Error>) -> Void

  /// Runs a query; the handler is called for each of its one or two results.
  /// - Returns: what cancels it. It need not be kept.
  @discardableResult
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, resultHandler: @escaping ResultHandler<Query.Data>
  ) -> OperationHandle {
    callbacks.fetch(query, cachePolicy, CallbackDelivery(resultHandler))
  }

  /// Runs a query; the handler is called on `callbackQueue`, in the queue's order.
  /// - Returns: what cancels it. It need not be kept.
  @discardableResult
  public func fetch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, callbackQueue: DispatchQueue,
    resultHandler: @escaping QueueHandler<Query.Data>
  ) -> OperationHandle {
    callbacks.fetch(query, cachePolicy, CallbackDelivery(callbackQueue, resultHandler))
  }

  /// Runs a mutation.
  /// - Returns: what cancels waiting for it. It need not be kept; the mutation runs without.
  @discardableResult
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, resultHandler: @escaping ResultHandler<Mutation.Data>
  ) -> OperationHandle {
    callbacks.perform(mutation, CallbackDelivery(resultHandler))
  }

  /// Runs a mutation; the handler is called on `callbackQueue`.
  /// - Returns: what cancels waiting for it. It need not be kept; the mutation runs without.
  @discardableResult
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, callbackQueue: DispatchQueue, resultHandler: @escaping QueueHandler<Mutation.Data>
  ) -> OperationHandle {
    callbacks.perform(mutation, CallbackDelivery(callbackQueue, resultHandler))
  }

  /// Starts a subscription; the handler is called for each event, and once with the error it ends with, if any.
  ///
  ///     subscription = client.subscribe(subscription: ReviewAddedSubscription()) { [weak self] result in … }
  ///
  /// - Returns: what cancels it, from any thread. Releasing it cancels, too.
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, resultHandler: @escaping ResultHandler<Subscription.Data>
  ) -> OperationHandle {
    callbacks.subscribe(subscription, CallbackDelivery(resultHandler))
  }

  /// Starts a subscription; the handler is called on `callbackQueue`, in the queue's order.
  /// - Returns: what cancels it, from any thread. Releasing it cancels, too.
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, callbackQueue: DispatchQueue, resultHandler: @escaping QueueHandler<Subscription.Data>
  ) -> OperationHandle {
    callbacks.subscribe(subscription, CallbackDelivery(callbackQueue, resultHandler))
  }

  /// Runs a query and follows the store; the handler is called for each result that differs from the one before.
  /// - Returns: what cancels it. Releasing it cancels, too.
  public func watch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, resultHandler: @escaping ResultHandler<Query.Data>
  ) -> OperationHandle {
    callbacks.watch(query, cachePolicy, CallbackDelivery(resultHandler))
  }

  /// Runs a query and follows the store; the handler is called on `callbackQueue`, in the queue's order.
  /// - Returns: what cancels it. Releasing it cancels, too.
  public func watch<Query: GraphQLQuery>(
    query: Query, cachePolicy: CachePolicy = .default, callbackQueue: DispatchQueue,
    resultHandler: @escaping QueueHandler<Query.Data>
  ) -> OperationHandle {
    callbacks.watch(query, cachePolicy, CallbackDelivery(callbackQueue, resultHandler))
  }

  private var callbacks: CallbackOperations { CallbackOperations(client: self) }
}
