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
