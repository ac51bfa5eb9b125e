internal import MartletGraphQLStore

/// A client's operations whose results go to closures.
struct CallbackOperations: Sendable {
  let client: GraphQLClient

  func fetch<Query: GraphQLQuery>(
    _ query: Query, _ policy: CachePolicy, _ delivery: CallbackDelivery<Query.Data>
  ) -> OperationHandle {
    OperationHandle(delivery, outlivesHandle: true) {
      for try await result in try client.route.results(of: query, policy, false) {
        await delivery.tell(.success(try GraphQLResponse(result)))
      }
    }
  }

  func perform<Mutation: GraphQLMutation>(
    _ mutation: Mutation, _ delivery: CallbackDelivery<Mutation.Data>
  ) -> OperationHandle {
    OperationHandle(delivery, outlivesHandle: true) {
      await delivery.tell(.success(try await client.perform(mutation: mutation)))
    }
  }

  func subscribe<Subscription: GraphQLSubscription>(
    _ subscription: Subscription, _ delivery: CallbackDelivery<Subscription.Data>
  ) -> OperationHandle {
    do {
      let stream = try client.subscribe(subscription: subscription)
      return OperationHandle(delivery, outlivesHandle: false, leaving: { stream.cancel() }) {
        for try await result in stream { await delivery.tell(.success(result)) }
      }
    } catch {
      // Delivered, although the handle may be dropped: nothing else would say why nothing comes.
      return OperationHandle(delivery, outlivesHandle: true) { throw error }
    }
  }

  func watch<Query: GraphQLQuery>(
    _ query: Query, _ policy: CachePolicy, _ delivery: CallbackDelivery<Query.Data>
  ) -> OperationHandle {
    OperationHandle(delivery, outlivesHandle: false) {
      for try await result in try client.watch(query: query, cachePolicy: policy) {
        await delivery.tell(.success(result))
      }
    }
  }
}
