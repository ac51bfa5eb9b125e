package import MartletJSON
package import MartletVocabulary
package import MartletWire

/// What the server's shell has to do, in order. The same for every dialect.
package enum SubscriptionServerAction: Equatable, Sendable {
  /// Check the credentials, then call `accept` or `refuse`.
  case authenticate(payload: JSONObject?)
  /// The client of an open connection shows other credentials. Check them, then call `renewed`.
  case renew(credentials: JSONObject)
  /// Prepare an operation. Its id is reserved already; `number` names it towards the machine, never reused.
  case start(number: Int, OperationID, RequestPayload)
  /// Clean up operation `number`: its client lost interest or is gone. Exactly once for each started operation
  /// that this side has not ended.
  case stop(number: Int)
  /// Send this text message, or this piece of a streamed response.
  case send([UInt8])
  /// Call `sendPosition` with the place up to which this connection's events have been sent.
  case tellPosition
  /// The client broke a rule or a limit: count it, and log the first. The answer, a message or a close, follows.
  case violated(String)
  /// Close the WebSocket, or end the response.
  case close(ConnectionClose)
}

/// The server's end of one connection, in whichever dialect.
///
/// Operations are named by numbers that are never used twice: a result that comes late for a cancelled operation
/// cannot reach a new one under the same id. For a fan-out: keep `eventPrefix`, and write prefix, payload and suffix
/// (`EventSuffix`) into one frame; an operation that ended has been reported by `.stop` or ended by this side.
package protocol SubscriptionServerMachine: Sendable {
  /// Nil for a streamed HTTP response.
  var dialect: Dialect? { get }
  /// What both ends agreed to add to the plain protocol; nothing before the acknowledgement.
  var continuity: Continuity { get }
  /// The same for one operation, where each asks for itself.
  func continuity(of number: Int) -> Continuity
  /// Whether operations may be answered.
  var isOpen: Bool { get }
  /// Operations that run, are being prepared, or wait for the acknowledgement.
  var operationCount: Int { get }
  /// When `reachedDeadline` wants to be called.
  var nextDeadline: Instant? { get }

  /// The bytes of an event's message in front of its payload.
  func eventPrefix(_ id: OperationID) -> [UInt8]

  /// Reads the connection's messages.
  var reader: ClientTextReader { get }
  /// A text message arrived, and `reader` has read it.
  mutating func receive(_ text: ClientText, at now: Instant, actions: inout [SubscriptionServerAction])
  /// A binary message arrived, which no dialect knows.
  mutating func receivedBinary(actions: inout [SubscriptionServerAction])
  /// The connection is gone, by whatever cause.
  mutating func connectionEnded(actions: inout [SubscriptionServerAction])

  /// The credentials are good: acknowledges. `payload` goes into the acknowledgement where the dialect has room for it.
  mutating func accept(payload: JSONObject?, at now: Instant, actions: inout [SubscriptionServerAction])
  /// The credentials are not good: says so as the dialect does, and closes.
  mutating func refuse(_ reason: String, actions: inout [SubscriptionServerAction])
  /// The credentials that let the client in are no longer good: says so as the dialect does, and closes, so that the
  /// client comes back with others.
  mutating func withdraw(_ reason: String, actions: inout [SubscriptionServerAction])
  /// What the client's other credentials came to. Those that are not accepted change nothing, except where the dialect
  /// has no answer but the end of the connection.
  mutating func renewed(_ isAccepted: Bool, actions: inout [SubscriptionServerAction])
  /// The credentials end after this time: says so where the dialect can, so that the client shows others.
  mutating func warn(_ left: Duration, actions: inout [SubscriptionServerAction])
  /// Ends the connection with any code, for example 1001 at shutdown.
  mutating func end(_ code: WebSocketCloseCode, _ reason: String, actions: inout [SubscriptionServerAction])

  /// One result, for queries, mutations and streams alike. Nothing is sent for an operation that has ended.
  mutating func next(
    _ number: Int, payload: [UInt8], cursor: Cursor?, endsTransaction: Bool, actions: inout [SubscriptionServerAction])
  /// Events of the past are about to be sent, in front of `ready`.
  mutating func catchesUp(_ number: Int, actions: inout [SubscriptionServerAction])
  /// The subscription is live and has no place in a log.
  mutating func live(_ number: Int, actions: inout [SubscriptionServerAction])
  /// The subscription is live: everything up to `cursor` has been sent and every later event will be. `view` is the
  /// digest of what the client's rights let it see; nil where nothing restricts them.
  mutating func ready(_ number: Int, _ cursor: Cursor, view: String?, actions: inout [SubscriptionServerAction])
  /// A gap that nothing can fill. Sent only to clients that negotiated gaps.
  mutating func gap(_ number: Int, _ gap: SubscriptionGap, actions: inout [SubscriptionServerAction])
  /// The operation has ended well.
  mutating func complete(_ number: Int, actions: inout [SubscriptionServerAction])
  /// The operation has failed; `errors` is a list in JSON that is not empty. No `complete` follows.
  mutating func fail(_ number: Int, errors: [UInt8], actions: inout [SubscriptionServerAction])
  /// Notifies a client that follows cursors how far its events have been sent.
  mutating func sendPosition(_ cursor: Cursor, at now: Instant, actions: inout [SubscriptionServerAction])

  /// Time has passed.
  mutating func reachedDeadline(at now: Instant, actions: inout [SubscriptionServerAction])
}

extension SubscriptionServerMachine {
  package func continuity(of number: Int) -> Continuity { continuity }
  package mutating func ready(_ number: Int, _ cursor: Cursor, actions: inout [SubscriptionServerAction]) {
    ready(number, cursor, view: nil, actions: &actions)
  }
  package func renewed(_ isAccepted: Bool, actions: inout [SubscriptionServerAction]) {}
  package func warn(_ left: Duration, actions: inout [SubscriptionServerAction]) {}
  package func catchesUp(_ number: Int, actions: inout [SubscriptionServerAction]) {}
  package mutating func withdraw(_ reason: String, actions: inout [SubscriptionServerAction]) {
    refuse(reason, actions: &actions)
  }
}

/// The bytes of an event's message after its payload.
package enum EventSuffix {
  /// `}`: every dialect's, towards peers that did not ask for cursors.
  package static let plain: [UInt8] = [UInt8(ascii: "}")]
}
