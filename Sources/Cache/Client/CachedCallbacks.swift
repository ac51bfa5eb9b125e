internal import MartletGraphQLClient
internal import MartletGraphQLStore

/// A client's operations by way of its store whose results go to closures.
struct CachedCallbacks: Sendable {
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
