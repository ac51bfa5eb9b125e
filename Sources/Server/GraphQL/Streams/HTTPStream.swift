internal import MartletGraphQLWire
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWire

/// The streamed response of one HTTP request, as its session sees it. Confined to its loop.
final class HTTPStream {
  /// The name of the one operation, which the wire does not carry.
  static let operation = OperationID(number: HTTPStreamMachine.number)

  private let media: HTTPStreamMedia
  private let suffix: [UInt8]
  private let responder: HTTPResponder
  /// The name under which several operations share it; nil for the response of one operation.
  let token: String?
  /// The cursor after which the operation that is just being started begins, when it was asked for earlier.
  var startsBehind: Cursor?

  /// The response of one operation.
  init(_ responder: HTTPResponder, _ media: HTTPStreamMedia) {
    self.responder = responder
    self.media = media
    suffix = media.eventSuffix
    token = nil
  }

  /// An event stream that operations share.
  init(_ responder: HTTPResponder, sharedAs token: String) {
    self.responder = responder
    media = .eventStream
    suffix = SharedStreamMachine.suffix
    self.token = token
  }

  /// Names what follows the response until it ends.
  func follow(drained: @escaping () -> Void, closed: @escaping () -> Void) {
    responder.endsWithPeer = true
    responder.follow(drained: drained, closed: closed)
  }

  /// Bytes the transport has not taken yet.
  var pendingBytes: Int { responder.pendingBytes }

  /// Sends a piece of the body.
  func send(_ piece: [UInt8]) {
    start()
    responder.write(piece)
  }

  /// Sends an event that was encoded for all members of its group.
  func send(_ event: GraphQLEvent, to member: Member) {
    start()
    guard member.hasCursors else {
      responder.write(prefix: prefix(of: event.payload, to: member), event.payload, suffix: suffix)
      return
    }
    // What a browser names when it asks again; a shared stream cannot be resumed by it.
    let isNamed = media == .eventStream && token == nil && event.endsTransaction
    let identifier = isNamed ? EventStreamSubscription.Writing.identifier(event.cursor) : []
    responder.write(prefix: identifier + prefix(of: event.marked, to: member), event.marked, suffix: suffix)
  }

  /// An operation that has the response to itself has no id before its events; a part of a multipart body has its
  /// length.
  private func prefix(of payload: [UInt8], to member: Member) -> [UInt8] {
    token == nil ? media.eventPrefix(length: payload.count) : member.prefix
  }

  /// Sends the head with the first piece.
  private func start() {
    guard responder.isWaiting else { return }
    let head = media.head
    responder.start(head.status, head.headers)
  }

  /// Ends the response.
  func finish() {
    start()
    responder.finish()
  }
}
