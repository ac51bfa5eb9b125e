internal import MartletRuntime
internal import MartletWireProtocols

/// The streamed response of one HTTP request, as its session sees it. Confined to its loop.
final class HTTPStream {
  /// The name of the one operation, which the wire does not carry.
  static let operation = OperationID(number: HTTPStreamMachine.number)

  private let media: HTTPStreamMedia
  private let prefix: [UInt8]
  private let suffix: [UInt8]
  private weak var connection: ServerConnection?

  init(_ connection: ServerConnection, _ media: HTTPStreamMedia) {
    self.connection = connection
    self.media = media
    prefix = media.eventPrefix
    suffix = media.eventSuffix
  }

  /// Bytes the transport has not taken yet.
  var pendingBytes: Int { connection?.channel.pendingBytes ?? 0 }

  /// Sends a piece of the body.
  func send(_ piece: [UInt8]) {
    connection?.append(to: media, piece)
  }

  /// Sends an event that was encoded for all members of its group.
  func send(_ event: EncodedEvent) {
    connection?.append(to: media, prefix: prefix, event.payload, suffix: suffix)
  }

  /// Ends the response.
  func end() {
    connection?.endStreamOfResults()
  }
}
