import MartletGraphQLClientWire
import MartletHTTPWire
import MartletJSON
import MartletVocabulary

/// One subscription by HTTP as its consumer sees it: its place in the server's log, its events without repeats, and the
/// gaps between connections. Confined to its loop.
final class HTTPSubscriber {
  /// What taking a result comes to.
  enum Taken {
    /// Not an event: the server confirmed the subscription, named a position, or repeated an event.
    case noted
    /// An event, or a gap.
    case kept
    /// The consumer has no room; it says when it has.
    case full
    /// Not a result: the server ends the connection, for this reason.
    case serverEnds(StreamEnd)
  }

  /// Why a server ends a stream that has not completed.
  enum StreamEnd {
    /// Another connection may be served.
    case passing(GraphQLClientError)
    /// The credentials have ended or were withdrawn.
    case credentials(GraphQLClientError)
  }

  let request: OperationRequest
  let feed: SubscriptionFeed
  private let asksForCursors: Bool
  private var position: SubscriptionPosition
  /// It has been active before.
  private(set) var wasLive = false
  /// It is, on this connection.
  private var isActive = false
  /// The server has confirmed it on this connection, or sent an event: its credentials were accepted.
  private(set) var isServed = false
  /// The connection is a new one, and the server has not confirmed yet that it resumes where the old one was.
  private var awaitsProof = false

  init(_ request: OperationRequest, _ feed: SubscriptionFeed, _ configuration: ConnectionConfiguration) {
    self.request = request
    self.feed = feed
    feed.core.bound(by: configuration.buffer)
    asksForCursors = configuration.resumes
    feed.core.expectsMark = configuration.resumes
    position = SubscriptionPosition(request.start)
  }

  /// Whether another connection continues without a gap.
  var canResume: Bool { asksForCursors && position.cursor != nil }

  /// What is sent: the request, and the cursor it resumes after.
  var wire: RequestPayload {
    var request = request.wire
    guard asksForCursors else { return request }
    // One of its own that cannot be read is the server's to refuse.
    guard var continuity = try? RequestContinuity(extensions: request.extensions) else { return request }
    continuity.cursors = true
    if let cursor = position.cursor { (continuity.resume, continuity.view) = (cursor, position.view) }
    request.extensions = continuity.added(to: request.extensions)
    return request
  }

  /// The error with the place up to which everything has been seen.
  func placed(_ error: GraphQLClientError) -> GraphQLClientError {
    var error = error
    error.cursor = position.cursor
    return error
  }

  /// The server answers by events. What it has confirmed before stays confirmed.
  func activate() {
    guard !isActive else { return }
    isActive = true
    wasLive = true
    feed.activate()
    if awaitsProof, position.cursor == nil { tellGap() }
  }

  /// The connection is lost, and is being made again.
  func reconnect(because reason: String) {
    let life = SubscriptionLife.interrupted(reason: reason, attempt: 1)
    guard wasLive else { return feed.core.tell(life) }
    awaitsProof = true
    isActive = false
    isServed = false
    feed.core.move(to: .reconnecting, telling: life)
  }

  private func tellGap() {
    awaitsProof = false
    feed.yield(gap: EventGap(.serverCannotResume, from: position.cursor))
  }

  /// A result has come.
  func take(_ payload: [UInt8]) -> Taken {
    if let end = Self.serverEnd(payload) { return .serverEnds(end) }
    let said = ResultContinuity(payload)
    if awaitsProof {
      if said == nil { tellGap() }
      awaitsProof = false
    }
    isServed = true
    switch said {
    case .ready(let cursor, let view):
      position.view = view
      if let cursor { position.reached(cursor) }
      activate()
      feed.activate(isConfirmed: true)
      feed.core.deliver(SubscriptionMark(cursor: cursor, view: view))
      return .noted
    case .position(let cursor):
      position.reached(cursor)
      feed.core.deliver(SubscriptionMark(cursor: cursor, view: position.view))
      return .noted
    case .gap(let gap):
      position.jumped(over: gap)
      let isFull = feed.yield(gap: EventGap(EventGap.Reason(rawValue: gap.reason), from: gap.from, to: gap.to))
      return isFull ? .full : .kept
    case .event(let cursor, let endsTransaction):
      guard position.isNew(cursor.offset) else { return .noted }
      position.passed(cursor, endsTransaction: endsTransaction)
      let event = OperationPayload(bytes: payload)
      return feed.yield(event, cursor: cursor, endsTransaction: endsTransaction) ? .full : .kept
    case nil: return feed.yield(OperationPayload(bytes: payload)) ? .full : .kept
    }
  }

  /// Why the server ends a stream that has not completed, if that is what a result says.
  private static func serverEnd(_ payload: [UInt8]) -> StreamEnd? {
    guard let tape = try? JSONTape(payload, limits: .held(payload)), tape.root["data"] == nil,
      let errors = tape.root["errors"]
    else { return nil }
    return streamEnd(errors.value.array ?? [])
  }

  /// The same for errors of the transport.
  static func streamEnd(_ errors: [JSONValue]) -> StreamEnd? {
    guard errors.count == 1, let code = errors[0]["extensions"]?["code"]?.string else { return nil }
    let reason = errors[0]["message"]?.string ?? "the server ends the stream"
    return switch code {
    case "STREAM_ENDED": .passing(GraphQLClientError(.connectionLost, reason, errors: errors))
    case "UNAUTHENTICATED": .credentials(GraphQLClientError(.unauthorized, reason, errors: errors))
    default: nil
    }
  }

  /// Whether another attempt may be answered better. A 500 that carries GraphQL errors is the operation's result.
  static func mayPass(_ status: Int, _ errors: [JSONValue]) -> Bool {
    HTTPStatusMeaning(status) == .passing && (status != 500 || errors.isEmpty)
  }

  static func refusal(_ errors: [JSONValue], status: Int?) -> GraphQLClientError {
    GraphQLClientError(
      .operationFailed, errors.first?["message"]?.string ?? "the server gave no reason", status: status, errors: errors)
  }
}
