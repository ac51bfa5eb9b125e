import Foundation
import Martlet

/// A screen's model, as it was over the other library: only `import` and the names of client and store have changed.
final class ReviewBoard: Sendable {
  let client: GraphQLClient

  init(http: URL, socket: URL) throws {
    let store = GraphQLStore()
    let requests = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: store), endpointURL: http)
    let subscriptions = try WebSocketTransport(url: socket)
    client = GraphQLClient(
      networkTransport: SplitNetworkTransport(
        queryTransport: requests, mutationTransport: requests, subscriptionTransport: subscriptions),
      store: store)
  }

  /// `fetch` takes a query and a cache policy.
  func stars(of episode: String) async throws -> [Int] {
    let response = try await client.fetch(query: ReviewList(), cachePolicy: .fetchIgnoringCacheData)
    return (response.data?.listReviews.items ?? []).filter { $0.episode == episode }.map(\.stars)
  }

  /// `perform` takes a mutation; errors of the response are in it, failures of the network are thrown.
  func add(_ episode: String, stars: Int) async throws {
    let response = try await client.perform(mutation: AddReview(episode: episode, stars: stars))
    if let error = response.errors.first { throw error }
  }

  /// `subscribe` returns a sequence at once; cancelling the task ends the subscription on the server.
  func follow(_ show: @Sendable (Int) -> Void) async throws {
    let reviews = try client.subscribe(subscription: ReviewAdded())
    try await reviews.ready()
    for try await result in reviews {
      if let review = result.data?.onCreateReview { show(review.stars) }
    }
  }
}

struct Review: Codable, Sendable {
  let id: String
  let episode: String
  let stars: Int
}

struct ReviewList: GraphQLQuery, Codable {
  static let operationName = "ReviewList"
  static let operationDocument = "query ReviewList { listReviews { items { id episode stars } } }"

  struct Data: Codable, Sendable {
    struct Page: Codable, Sendable {
      var items: [Review]
    }
    var listReviews: Page
  }
}

struct AddReview: GraphQLMutation, Codable {
  static let operationName = "AddReview"
  static let operationDocument =
    "mutation AddReview($episode: String!, $stars: Int!) { createReview(input: {episode: $episode, stars: $stars}) { id } }"

  let episode: String
  let stars: Int

  struct Data: Codable, Sendable {
    struct Created: Codable, Sendable {
      let id: String
    }
    let createReview: Created?
  }
}

struct ReviewAdded: GraphQLSubscription, Codable {
  static let operationName = "ReviewAdded"
  static let operationDocument = "subscription ReviewAdded { onCreateReview { id episode stars } }"

  struct Data: Codable, Sendable {
    let onCreateReview: Review?
  }
}
