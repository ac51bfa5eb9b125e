public import Foundation

// The same operations with closures. They run on the main actor and may touch views as they stand; the forms with a
// queue run theirs there.

extension GraphQLClient {
  /// A closure's result, on the main actor.
  public typealias ResultHandler<Data: Sendable> = @MainActor (Result<GraphQLResponse<Data>, any Error>) -> Void
  /// A closure's result, on a queue.
  public typealias QueueHandler<Data: Sendable> = @Sendable (Result<GraphQLResponse<Data>, any Error>) -> Void

  /// Runs a query; the handler is called with its result.
  /// - Returns: what cancels it. It need not be kept.
  @discardableResult
  @_disfavoredOverload
  public func fetch<Query: GraphQLQuery>(
    query: Query, resultHandler: @escaping ResultHandler<Query.Data>
  ) -> OperationHandle {
    fetch(query, CallbackDelivery(resultHandler))
  }

  /// Runs a query; the handler is called on `callbackQueue`.
  /// - Returns: what cancels it. It need not be kept.
  @discardableResult
  @_disfavoredOverload
  public func fetch<Query: GraphQLQuery>(
    query: Query, callbackQueue: DispatchQueue, resultHandler: @escaping QueueHandler<Query.Data>
  ) -> OperationHandle {
    fetch(query, CallbackDelivery(callbackQueue, resultHandler))
  }

  /// Runs a mutation.
  /// - Returns: what cancels waiting for it. It need not be kept; the mutation runs without.
  @discardableResult
  @_disfavoredOverload
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, resultHandler: @escaping ResultHandler<Mutation.Data>
  ) -> OperationHandle {
    perform(mutation, CallbackDelivery(resultHandler))
  }

  /// Runs a mutation; the handler is called on `callbackQueue`.
  /// - Returns: what cancels waiting for it. It need not be kept; the mutation runs without.
  @discardableResult
  @_disfavoredOverload
  public func perform<Mutation: GraphQLMutation>(
    mutation: Mutation, callbackQueue: DispatchQueue, resultHandler: @escaping QueueHandler<Mutation.Data>
  ) -> OperationHandle {
    perform(mutation, CallbackDelivery(callbackQueue, resultHandler))
  }

  /// Starts a subscription; the handler is called for each event, and once with the error it ends with, if any.
  ///
  ///     subscription = client.subscribe(subscription: ReviewAddedSubscription()) { [weak self] result in … }
  ///
  /// - Returns: what cancels it, from any thread. Releasing it cancels, too.
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, resultHandler: @escaping ResultHandler<Subscription.Data>
  ) -> OperationHandle {
    subscribe(subscription, CallbackDelivery(resultHandler))
  }

  /// Starts a subscription; the handler is called on `callbackQueue`, in the queue's order.
  /// - Returns: what cancels it, from any thread. Releasing it cancels, too.
  public func subscribe<Subscription: GraphQLSubscription>(
    subscription: Subscription, callbackQueue: DispatchQueue, resultHandler: @escaping QueueHandler<Subscription.Data>
  ) -> OperationHandle {
    subscribe(subscription, CallbackDelivery(callbackQueue, resultHandler))
  }

  private func fetch<Query: GraphQLQuery>(
    _ query: Query, _ delivery: CallbackDelivery<Query.Data>
  ) -> OperationHandle {
    let transport = networkTransport
    return OperationHandle(delivery, outlivesHandle: true) {
      await delivery.tell(.success(try await transport.response(to: try OperationRequest(query))))
    }
  }

  private func perform<Mutation: GraphQLMutation>(
    _ mutation: Mutation, _ delivery: CallbackDelivery<Mutation.Data>
  ) -> OperationHandle {
    let transport = networkTransport
    return OperationHandle(delivery, outlivesHandle: true) {
      await delivery.tell(.success(try await transport.response(to: try OperationRequest(mutation))))
    }
  }

  private func subscribe<Subscription: GraphQLSubscription>(
    _ subscription: Subscription, _ delivery: CallbackDelivery<Subscription.Data>
  ) -> OperationHandle {
    let stream: SubscriptionStream<GraphQLResponse<Subscription.Data>>
    do {
      stream = networkTransport.events(of: try OperationRequest(subscription), emptying: storeSlot)
    } catch {
      // Delivered, although the handle may be dropped: nothing else would say why nothing comes.
      return OperationHandle(delivery, outlivesHandle: true) { throw error }
    }
    return OperationHandle(delivery, outlivesHandle: false, leaving: { stream.cancel() }) {
      for try await result in stream { await delivery.tell(.success(result)) }
    }
  }
}
