internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWireProtocols

/// The streamed response of one HTTP request, as its session sees it. Confined to its loop.
final class HTTPStream {
  /// The name of the one operation, which the wire does not carry.
  static let operation = OperationID(number: HTTPStreamMachine.number)

  private let media: HTTPStreamMedia
  private let suffix: [UInt8]
  private weak var connection: ServerConnection?
  /// The name under which several operations share it; nil for the response of one operation.
  let token: String?
  /// Where the operation that is just being started begins to listen, when it was asked for earlier.
  var startsBehind: Cursor?

  /// The response of one operation.
  init(_ connection: ServerConnection, _ media: HTTPStreamMedia) {
    self.connection = connection
    self.media = media
    suffix = media.eventSuffix
    token = nil
  }

  /// An event stream that operations share.
  init(_ connection: ServerConnection, sharedAs token: String) {
    self.connection = connection
    media = .eventStream
    suffix = SharedStreamMachine.suffix
    self.token = token
  }

  /// What a program that is asked hears of the protocol.
  var dialect: ConnectionRequest.Dialect {
    switch media {
    case .multipart: .multipart
    case .eventStream: .eventStream
    }
  }

  /// Bytes the transport has not taken yet.
  var pendingBytes: Int { connection?.channel.pendingBytes ?? 0 }

  /// Sends a piece of the body.
  func send(_ piece: [UInt8]) {
    connection?.append(to: media, piece)
  }

  /// Sends an event that was encoded for all members of its group.
  func send(_ event: EncodedEvent, to member: Member) {
    guard member.hasCursors else {
      connection?.append(to: media, prefix: member.prefix, event.payload, suffix: suffix)
      return
    }
    // What a browser names when it asks again; in a shared stream nobody could.
    let isNamed = media == .eventStream && token == nil && event.endsTransaction
    let identifier = isNamed ? EventStreamSubscription.Writing.identifier(event.cursor) : []
    connection?.append(to: media, prefix: identifier + member.prefix, event.marked, suffix: suffix)
  }

  /// The program does not let the client in; nothing of the response has been sent.
  func refuse(_ reason: String) {
    connection?.refuseStream(reason)
  }

  /// Ends the response.
  func end() {
    connection?.endStreamOfResults()
  }
}
