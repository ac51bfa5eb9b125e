package import MartletHTTPWire

/// The WebSocket protocol `graphql-transport-ws`, with Martlet's additions (docs/PROTOCOL.md).
package enum GraphQLTransportWS {
  /// The subprotocol's name.
  package static let subprotocol = "graphql-transport-ws"

  package typealias Close = ConnectionClose
  package typealias Retry = ConnectionRetry

  /// The class of every close code, seen from the client.
  package static func retry(after code: WebSocketCloseCode) -> Retry {
    switch code.rawValue {
    case 1000: .ifOperationsAreOpen
    // Going away, no status, abnormal, restart, try later, bad gateway.
    case 1001, 1005, 1006, 1012, 1013, 1014: .afterBackoff
    case 1002...1999: .never
    case 4403: .withNewCredentials
    case 4408, 4499, 4504: .afterBackoff
    case 4004, 4005, 4400, 4401, 4406, 4409, 4429, 4500: .never
    // Codes of other servers and proxies: nothing says that they are final.
    default: .afterBackoff
    }
  }
}

/// The name a client gave an operation: not empty, compared byte by byte.
package struct OperationID: Hashable, Sendable, CustomStringConvertible {
  package let text: String
  /// The client wrote it as a number, and reads it as one. It is the same name as the text of its digits.
  let isNumber: Bool

  package init?(_ text: String) {
    if text.isEmpty { return nil }
    self.text = text
    isNumber = false
  }

  /// A name for an operation that its client gave none.
  package init(number: Int) {
    text = String(number)
    isNumber = false
  }

  /// A number in the client's own spelling.
  init(spelled number: Int64) {
    text = String(number)
    isNumber = true
  }

  package var description: String { text }

  package static func == (left: OperationID, right: OperationID) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
    hasher.combine(0xFF as UInt8)
  }
}

extension ConnectionClose {
  /// The client's: the server sent something no server may send.
  package static func badResponse(_ reason: String) -> ConnectionClose { ConnectionClose(4004, reason) }
  /// A malformed or unknown message.
  package static func badRequest(_ reason: String) -> ConnectionClose { ConnectionClose(4400, reason) }
  package static let unauthorized = ConnectionClose(4401, "Unauthorized")
  package static func forbidden(_ reason: String = "Forbidden") -> ConnectionClose { ConnectionClose(4403, reason) }
  package static let subprotocolNotAcceptable = ConnectionClose(4406, "Subprotocol not acceptable")
  package static let initialisationTimeout = ConnectionClose(4408, "Connection initialisation timeout")
  package static func duplicate(_ id: OperationID) -> ConnectionClose {
    ConnectionClose(4409, "Subscriber for \(id) already exists")
  }
  package static let tooManyInitialisations = ConnectionClose(4429, "Too many initialisation requests")
  /// The client's, local: the server is silent.
  package static let stuck = ConnectionClose(4499, "No answer to a ping")
  /// The client's, local: no keep-alive.
  package static let silent = ConnectionClose(4499, "No keep-alive from the server")
  package static let internalError = ConnectionClose(4500, "Internal server error")
  /// The client's: no acknowledgement in time.
  package static let acknowledgementTimeout = ConnectionClose(4504, "Connection acknowledgement timeout")
}
