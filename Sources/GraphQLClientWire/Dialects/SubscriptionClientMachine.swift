package import MartletJSON
package import MartletVocabulary

/// What the client's shell has to do or report, in order. The same for every dialect.
package enum SubscriptionClientAction: Equatable, Sendable {
  /// Send this text message.
  case send([UInt8])
  /// The server acknowledged; operations are on their way.
  case acknowledged(payload: JSONObject?)
  /// The server asked for life; the answer is sent. Also a keep-alive that wants no answer.
  case pinged(payload: JSONObject?)
  /// The server answered a ping.
  case ponged(payload: JSONObject?)
  /// The operation was sent. Unless the server confirms subscriptions this is all that can be said.
  case started(OperationID)
  /// The server said that the subscription is live, without a place.
  case confirmed(OperationID)
  /// The server reported that the subscription is live after this cursor.
  case ready(OperationID, Cursor)
  /// A result as the server wrote it. The cursor is there when the server gives them; `endsTransaction` is false while
  /// more of the result's transaction follows.
  case next(OperationID, payload: [UInt8], cursor: Cursor?, endsTransaction: Bool = true)
  case gap(OperationID, SubscriptionGap)
  /// The operation failed on the server. The list may be empty with servers that say nothing.
  case failed(OperationID, errors: [JSONValue])
  /// The server refused this operation's credentials. It is still open here: reconnect with new ones, or cancel it.
  case unauthorized(OperationID, errors: [JSONValue])
  /// The server broke a rule for this operation, which is over.
  case violated(OperationID, String)
  case completed(OperationID)
  /// The operation had been sent and may not be sent again: whether it was executed is unknown.
  case lost(OperationID)
  /// The server refused the connection by a message: close it; the associated values say how to retry.
  case refused(ConnectionRetry, errors: [JSONValue])
  /// The server speaks another protocol, of this name: close.
  case mismatched(answered: String)
  /// Close the WebSocket; `Dialect.retry(after:)` says how to retry.
  case close(ConnectionClose)
}

/// The client's end of a dialect on one socket after another.
///
/// Operations outlive sockets: `opened` starts a session, and its acknowledgement sends every open operation again,
/// in order, under the same id and, where the dialect knows places, with the place it has reached. One socket at a
/// time; when to open the next is decided elsewhere.
package protocol SubscriptionClientMachine: Sendable {
  var dialect: Dialect { get }
  /// What both ends agreed to add to the plain protocol, in this session.
  var continuity: Continuity { get }
  /// Whether the session's server says itself when a subscription is live (`ready`, `start_ack`).
  var confirmsSubscriptions: Bool { get }
  /// Operations that have not ended.
  var operationCount: Int { get }
  /// When `reachedDeadline` wants to be called; it may move later meanwhile, then that call does nothing.
  var nextDeadline: Instant? { get }

  /// Where an open subscription stands.
  func position(of id: OperationID) -> SubscriptionPosition?

  /// What is said on the next sockets is signed; before `opened`. Only AppSync's dialect knows such a thing.
  mutating func sign(with signer: AppSyncRealtime.Signer?)
  /// A socket is open. `payload` is what `connection_init` carries, with fresh credentials; in AppSync's dialect it is
  /// the authorization that every `start` carries.
  mutating func opened(payload: JSONObject?, at now: Instant, actions: inout [SubscriptionClientAction])
  /// This side is about to close: what politeness asks to be sent before.
  mutating func leaving(actions: inout [SubscriptionClientAction])
  /// The socket is gone; also to be called after a `.close` was carried out.
  mutating func disconnected(actions: inout [SubscriptionClientAction])

  /// Starts an operation: sent at once on an open session, otherwise after the next acknowledgement.
  ///
  /// - Parameters:
  ///   - id: unique among this client's open operations.
  ///   - repetition: whether it is sent again after a reconnect.
  ///   - position: the cursor a resumed subscription continues after.
  mutating func start(
    _ id: OperationID, _ request: RequestPayload, repetition: OperationRepetition, position: SubscriptionPosition,
    at now: Instant, actions: inout [SubscriptionClientAction])
  /// Ends an operation on our side. Nothing of it is reported afterwards; what was never sent is not taken back.
  mutating func cancel(_ id: OperationID, actions: inout [SubscriptionClientAction])

  /// Shows other credentials on the open connection. False, with nothing sent, where the dialect or the server cannot
  /// take them there.
  mutating func renew(with credentials: JSONObject, actions: inout [SubscriptionClientAction]) -> Bool

  /// A text message arrived.
  mutating func receive(_ text: [UInt8], at now: Instant, actions: inout [SubscriptionClientAction])
  /// Time has passed.
  mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionClientAction])
}

extension SubscriptionClientMachine {
  package mutating func sign(with signer: AppSyncRealtime.Signer?) {}
  package func renew(with credentials: JSONObject, actions: inout [SubscriptionClientAction]) -> Bool { false }
}
