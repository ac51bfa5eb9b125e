/// A close code (RFC 6455 section 7.4 and its registry).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
  package var rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package init(integerLiteral value: UInt16) {
    rawValue = value
  }

  package static let normal: WebSocketCloseCode = 1000
  package static let goingAway: WebSocketCloseCode = 1001
  package static let protocolError: WebSocketCloseCode = 1002
  package static let unsupportedData: WebSocketCloseCode = 1003
  /// Never on the wire: a close frame without a code.
  package static let noStatus: WebSocketCloseCode = 1005
  /// Never on the wire: the connection ended without a close frame.
  package static let abnormal: WebSocketCloseCode = 1006
  package static let invalidData: WebSocketCloseCode = 1007
  package static let policyViolation: WebSocketCloseCode = 1008
  package static let messageTooBig: WebSocketCloseCode = 1009
  package static let internalError: WebSocketCloseCode = 1011

  /// Whether a close frame may carry this code.
  package var mayBeSent: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
