/// The WebSocket protocol `graphql-transport-ws`, with Martlet's additions (docs/PROTOCOL.md).
package enum GraphQLTransportWS {
  /// The subprotocol's name.
  package static let subprotocol = "graphql-transport-ws"

  /// How a connection is ended: code and reason.
  package struct Close: Equatable, Sendable, Error {
    package var code: WebSocketCloseCode
    package var reason: String

    package init(_ code: WebSocketCloseCode, _ reason: String) {
      self.code = code
      self.reason = reason
    }

    /// The client's: the server sent something no server may send.
    package static func badResponse(_ reason: String) -> Close { Close(4004, reason) }
    /// A malformed or unknown message.
    package static func badRequest(_ reason: String) -> Close { Close(4400, reason) }
    package static let unauthorized = Close(4401, "Unauthorized")
    package static func forbidden(_ reason: String = "Forbidden") -> Close { Close(4403, reason) }
    package static let subprotocolNotAcceptable = Close(4406, "Subprotocol not acceptable")
    package static let initialisationTimeout = Close(4408, "Connection initialisation timeout")
    package static func duplicate(_ id: OperationID) -> Close { Close(4409, "Subscriber for \(id) already exists") }
    package static let tooManyInitialisations = Close(4429, "Too many initialisation requests")
    /// The client's, local: the server is silent.
    package static let stuck = Close(4499, "No answer to a ping")
    package static let internalError = Close(4500, "Internal server error")
    /// The client's: no acknowledgement in time.
    package static let acknowledgementTimeout = Close(4504, "Connection acknowledgement timeout")
  }

  /// What a client does after a connection ended.
  package enum Retry: Equatable, Sendable {
    /// Reconnect after a pause.
    case afterBackoff
    /// Ask for new credentials first, then as above.
    case withNewCredentials
    /// Trying again would end the same way.
    case never
    /// The server closed normally; reconnect only while operations are open.
    case ifOperationsAreOpen
  }

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

  package init?(_ text: String) {
    if text.isEmpty { return nil }
    self.text = text
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
