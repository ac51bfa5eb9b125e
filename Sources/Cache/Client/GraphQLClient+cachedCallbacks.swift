public import Foundation
public import MartletGraphQLClient
public import MartletGraphQLStore

// The operations under a cache policy with closures. They run on the main actor and may touch views as they stand; the
// forms with a queue run theirs there.

extension GraphQLClient {
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

  private var callbacks: CachedCallbacks { CachedCallbacks(client: self) }
}
