import Martlet
import MartletRuntime

/// A transport whose answers wait until the test lets them go.
final class GatedTransport: NetworkTransport {
  struct State {
    var requests: [OperationRequest] = []
    var feeds: [SubscriptionFeed] = []
    var cancelled = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
    var isOpen: Bool
  }
  let state: Lock<State>
  private let answer: @Sendable (OperationRequest) throws -> JSONValue
  /// Says that a request has arrived.
  let arrivals: AsyncStream<Void>
  private let arrive: AsyncStream<Void>.Continuation

  init(isOpen: Bool = true, _ answer: @escaping @Sendable (OperationRequest) throws -> JSONValue) {
    state = Lock(State(isOpen: isOpen))
    self.answer = answer
    (arrivals, arrive) = AsyncStream.makeStream()
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    state.withLock { $0.requests.append(request) }
    arrive.yield()
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if goesOn { continuation.resume() }
    }
    try Task.checkCancellation()
    return OperationPayload(try answer(request))
  }

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    feed.onCancel { [self] in state.withLock { $0.cancelled += 1 } }
    feed.activate()
    state.withLock { $0.feeds.append(feed) }
  }

  var requests: [OperationRequest] { state.withLock { $0.requests } }
  var feeds: [SubscriptionFeed] { state.withLock { $0.feeds } }
  var cancelled: Int { state.withLock { $0.cancelled } }
}

/// What the tests ask for.
enum Hero {
  struct Name: Codable, Hashable, Sendable {
    var id: String
    var name: String?
  }
  struct Query: GraphQLQuery {
    static let operationName = "Hero"
    static let operationDocument = "query Hero { hero { id name } }"
    struct Data: Codable, Hashable, Sendable { var hero: Name? }
  }
  struct Rename: GraphQLMutation, Codable {
    static let operationName = "Rename"
    static let operationDocument = "mutation Rename($name: String!) { rename(name: $name) { id name } }"
    var name: String
    struct Data: Codable, Hashable, Sendable { var rename: Name? }
  }
  struct Changed: GraphQLSubscription {
    static let operationName = "Changed"
    static let operationDocument = "subscription Changed { heroChanged { id name } }"
    struct Data: Codable, Hashable, Sendable { var heroChanged: Name? }
  }

  static func hero(_ name: String) -> JSONValue { ["__typename": "Hero", "id": "1", "name": .string(name)] }

  @Sendable static func answer(_ request: OperationRequest) -> JSONValue {
    request.kind == .query
      ? ["data": ["hero": hero("R2-D2")]]
      : ["data": ["rename": hero(request.variables["name"]?.string ?? "")]]
  }
}
