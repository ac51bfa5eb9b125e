import Martlet

// Written as in an application whose target says `.defaultIsolation(MainActor.self)`: nothing here is annotated.

enum Episode: String, Codable, Hashable, Sendable {
  case newhope = "NEWHOPE"
  case jedi = "JEDI"
}

struct ReviewAdded: GraphQLSubscription, Codable {
  static let operationName = "ReviewAdded"
  static let operationDocument = """
    subscription ReviewAdded($episode: Episode) { reviewAdded(episode: $episode) { id episode stars } }
    """
  var episode: GraphQLNullable<Episode> = .none

  struct Data: Codable, Hashable, Sendable {
    var reviewAdded: Review?
    struct Review: Codable, Hashable, Sendable {
      var id: String
      var episode: Episode
      var stars: Int
    }
  }
}

struct Reviews: GraphQLQuery {
  static let operationName = "Reviews"
  static let operationDocument = "query Reviews { listReviews { items { id episode stars } } }"

  struct Data: Decodable, Sendable {
    var listReviews: Page?
    struct Page: Decodable, Sendable { var items: [ReviewAdded.Data.Review] }
  }
}

struct CreateReview: GraphQLMutation, Encodable {
  static let operationName = "CreateReview"
  static let operationDocument = """
    mutation CreateReview($episode: Episode!, $stars: Int!) {
      createReview(input: {episode: $episode, stars: $stars}) { id episode stars }
    }
    """
  var episode: Episode
  var stars: Int

  struct Data: Decodable, Sendable { var createReview: ReviewAdded.Data.Review? }
}

struct Todo: Model {
  var id: String
  var text: String
  enum CodingKeys: String, ModelKey { case id, text }
}

/// Results that belong to no operation's type are read where the network is, and say so.
nonisolated struct Stars: Decodable, Sendable {
  struct Review: Decodable, Sendable { var stars: Int }
  var reviewAdded: Review?
}

/// A transport of one's own.
struct Answering: NetworkTransport {
  func send(_ request: OperationRequest) async throws -> OperationPayload {
    OperationPayload(["data": ["hello": "world"]])
  }

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    feed.activate()
    feed.finish()
  }
}

/// A step of the chain of one's own.
struct Language: Interceptor {
  func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
    var request = request
    request.headers.append((name: "Accept-Language", value: "de"))
    return try await next(request)
  }
}
