/// A rule of RFC 6455 or of our limits that the peer broke, with the close code that answers it.
package struct WebSocketFailure: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Rule: String, Sendable, Hashable {
    case reservedBits = "reserved bits set without an extension that defines them"
    case reservedOpcode = "reserved opcode"
    case fragmentedControl = "control frame in fragments"
    case longControl = "control frame longer than 125 bytes"
    case unmaskedFrame = "frame from a client without a mask"
    case maskedFrame = "frame from a server with a mask"
    case lengthNotMinimal = "payload length not in its shortest form"
    case lengthOverflow = "payload length with its top bit set"
    case strayContinuation = "continuation without a message begun"
    case interruptedMessage = "new message inside a fragmented one"
    case compressedContinuation = "compression bit on a continuation or control frame"
    case closeTooShort = "close frame with one byte"
    case closeCode = "close code that may not be sent"
    case invalidText = "text is not UTF-8"
    case messageTooLarge = "message longer than the limit"
    case invalidCompression = "compressed message does not decompress"
    case pongDeadline = "no sign of life since the ping"
    case closeDeadline = "no answer to the close"
    case transportLost = "connection ended without a close"
  }

  package var rule: Rule

  package init(_ rule: Rule) {
    self.rule = rule
  }

  package var description: String { rule.rawValue }

  /// The code to close with; nil when nothing more can be sent.
  package var closeCode: WebSocketCloseCode? {
    switch rule {
    case .reservedBits, .reservedOpcode, .fragmentedControl, .longControl, .unmaskedFrame, .maskedFrame,
      .lengthNotMinimal, .lengthOverflow, .strayContinuation, .interruptedMessage, .compressedContinuation,
      .closeTooShort, .closeCode:
      .protocolError
    case .invalidText, .invalidCompression: .invalidData
    case .messageTooLarge: .messageTooBig
    case .pongDeadline, .closeDeadline, .transportLost: nil
    }
  }
}

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
