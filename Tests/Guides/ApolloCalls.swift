import Foundation
import Martlet
import MartletSQLiteStore

/// The calls of an application of Apollo iOS as they stand here, on the operations of `ReviewBoard`.
struct ApolloCalls: Sendable {
  let client: GraphQLClient

  // MARK: Setting up

  /// Credentials, header fields, time-outs and reconnecting are settings of the transports.
  init(http: URL, socket: URL, cache: URL, token: @escaping @Sendable () async throws -> String) throws {
    var storing = GraphQLStoreConfiguration()
    storing.keyFields = ["Review": ["id"]]
    let store = GraphQLStore(cache: try SQLiteNormalizedCache(fileURL: cache), configuration: storing)
    var configuration = ConnectionConfiguration()
    configuration.credentials = { _ in .bearer(try await token()) }
    configuration.headers = [(name: "apollographql-client-name", value: "reviews")]
    configuration.connectingPayload = ["locale": "en"]
    configuration.requestTimeout = .seconds(20)
    configuration.reconnect.firstDelay = .seconds(1)
    configuration.persistedOperations = PersistedOperationPolicy(queriesByGET: true)
    let requests = RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(interceptors: [SignInAgain(), RetryInterceptor(attempts: 3)]),
      endpointURL: http, configuration: configuration)
    let subscriptions = try WebSocketTransport(url: socket, configuration: configuration)
    client = GraphQLClient(
      networkTransport: SplitNetworkTransport(
        queryTransport: requests, mutationTransport: requests, subscriptionTransport: subscriptions),
      store: store)
  }

  /// In place of `proceedAsync`, `retry` and an error interceptor: `next` is called as often as it is needed, and what
  /// it throws can be caught.
  struct SignInAgain: Interceptor {
    func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
      do {
        return try await next(request)
      } catch let error as GraphQLClientError where error.code == .unauthorized {
        return try await next(request)
      }
    }
  }

  // MARK: Queries

  func fetches() async throws -> [Int] {
    let query = ReviewList()
    var counts: [Int] = []
    for policy in [.returnCacheDataElseFetch, .fetchIgnoringCacheData, .fetchIgnoringCacheCompletely] as [CachePolicy] {
      counts.append(try await client.fetch(query: query, cachePolicy: policy).data?.listReviews.items.count ?? 0)
    }
    for policy in [.cacheFirst, .networkFirst, .networkOnly, .cacheOnly, .cacheAndNetwork] as [CachePolicy] {
      counts.append(try await client.fetch(query: query, cachePolicy: policy).data?.listReviews.items.count ?? 0)
    }
    return counts
  }

  /// The handle's `cancel()` ends it, and so does dropping the handle.
  func watchWithClosure(_ show: @escaping @Sendable @MainActor (Int) -> Void) -> OperationHandle {
    client.watch(query: ReviewList(), cachePolicy: .returnCacheDataAndFetch) { result in
      if let data = try? result.get().data { show(data.listReviews.items.count) }
    }
  }

  /// In place of `refetch()`: every watcher of what has changed shows it.
  func refetch() async throws {
    _ = try await client.fetch(query: ReviewList(), cachePolicy: .networkOnly)
  }

  // MARK: Mutations

  func add(_ episode: String, stars: Int) async throws {
    // In place of `publishResultToStore: false`.
    try await client.perform(mutation: AddReview(episode: episode, stars: stars), writesStore: false)
  }

  func addAtOnce(_ episode: String, stars: Int) async throws {
    let expected = Review(id: "expected", episode: episode, stars: stars)
    try await client.performOptimistically(mutation: AddReview(episode: episode, stars: stars)) { store in
      try store.update(ReviewList()) { $0.listReviews.items.append(expected) }
    }
  }

  // MARK: Subscriptions

  func follow(_ show: @escaping @Sendable @MainActor (Int) -> Void) -> OperationHandle {
    client.subscribe(subscription: ReviewAdded()) { result in
      if let review = try? result.get().data?.onCreateReview { show(review.stars) }
    }
  }

  func toBackground() { client.pause() }

  func toForeground() { client.resume() }

  // MARK: The store

  struct Stars: Codable, Sendable {
    var stars: Int
  }

  func editStore(_ id: String) async throws -> Int {
    let key = CacheKey("Review:\(id)")
    return try await client.store.withinReadWriteTransaction { transaction in
      // `read(query:)` and `update(_:)` with a local cache mutation.
      _ = try transaction.read(ReviewList())
      try transaction.update(ReviewList()) { $0.listReviews.items.removeAll { $0.stars == 0 } }
      // `readObject(ofType:withKey:)`, `updateObject(ofType:withKey:)` and `write(selectionSet:withKey:)`.
      let fragment = "fragment S on Review { stars }"
      let review = try transaction.readFragment(fragment, on: key, as: Stars.self)
      try transaction.writeFragment(["__typename": "Review", "stars": 4], for: fragment, on: key)
      try transaction.setFields(["stars": 5], of: key)
      return review.stars
    }
  }

  func forget(_ id: String) throws {
    // `removeObject(for:)` and `clearCache()`.
    try client.store.evict(CacheKey("Review:\(id)"))
    try client.clearCache()
  }

  // MARK: Pages

  /// In place of a pager: a query for each page, until there is no further one.
  func all(pageSize: Int) async throws -> [Review] {
    var (found, token) = ([Review](), String?.none)
    repeat {
      let page = try await client.fetch(query: ReviewPage(limit: pageSize, nextToken: token.map { .some($0) } ?? .none))
      found += page.data?.listReviews.items ?? []
      token = page.data?.listReviews.nextToken
    } while token != nil
    return found
  }

  // MARK: Errors

  /// `GraphQLError`s are in the response; everything else is one type, whose code says which.
  static func words(for error: any Error) -> String {
    guard let error = error as? GraphQLClientError else { return "\(error)" }
    return switch error.code {
    case .httpStatus: "the server answered with \(error.status ?? 0)"
    case .invalidResponse, .decodingFailed: "the answer cannot be read"
    case .connectFailed, .connectionLost, .timeout: "no network"
    case .connectionClosed: "the server closed the WebSocket with \(error.closeCode ?? 0)"
    case .outcomeUnknown: "the mutation may have been executed"
    default: error.message
    }
  }
}

struct ReviewPage: GraphQLQuery, Codable {
  static let operationName = "ReviewPage"
  static let operationDocument = """
    query ReviewPage($limit: Int, $nextToken: String) {
      listReviews(limit: $limit, nextToken: $nextToken) { items { id episode stars } nextToken }
    }
    """

  let limit: Int
  let nextToken: GraphQLNullable<String>

  struct Data: Codable, Sendable {
    struct Page: Codable, Sendable {
      let items: [Review]
      let nextToken: String?
    }
    let listReviews: Page
  }
}
