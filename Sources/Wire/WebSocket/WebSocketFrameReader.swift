/// The head of one frame.
package struct WebSocketFrameHeader: Equatable, Sendable {
  package var isFinal = false
  package var isCompressed = false
  package var opcode = WebSocketOpcode.continuation
  package var isMasked = false
  package var length = 0
  /// Wire order from the lowest byte up; zero when not masked.
  package var mask: UInt32 = 0
}

/// Reads frame heads byte by byte, so that any chunking of the stream gives the same result, and refuses at the first
/// byte that breaks a rule.
struct WebSocketFrameReader {
  private enum Step {
    case first
    case second
    case extended(left: UInt8)
    case mask(left: UInt8)
  }

  /// Whether frames arrive masked: true on a server.
  let expectsMask: Bool
  /// Whether permessage-deflate gave RSV1 a meaning.
  let allowsCompression: Bool
  private var step = Step.first
  private var wide: UInt64 = 0
  private(set) var header = WebSocketFrameHeader()

  init(expectsMask: Bool, allowsCompression: Bool) {
    self.expectsMask = expectsMask
    self.allowsCompression = allowsCompression
  }

  /// Takes the next byte; true when the head is complete.
  mutating func push(_ byte: UInt8) throws(WebSocketFailure) -> Bool {
    switch step {
    case .first:
      try begin(byte)
      step = .second
      return false
    case .second:
      return try readLength(byte)
    case .extended(let left):
      wide = wide << 8 | UInt64(byte)
      guard left == 1 else {
        step = .extended(left: left - 1)
        return false
      }
      guard wide <= UInt64(Int.max) else { throw WebSocketFailure(.lengthOverflow) }
      let least: UInt64 = header.length == 126 ? 126 : 0x1_0000
      guard wide >= least else { throw WebSocketFailure(.lengthNotMinimal) }
      header.length = Int(wide)
      return finishLength()
    case .mask(let left):
      header.mask |= UInt32(byte) << UInt32(8 * (4 - left))
      guard left == 1 else {
        step = .mask(left: left - 1)
        return false
      }
      step = .first
      return true
    }
  }

  private mutating func begin(_ byte: UInt8) throws(WebSocketFailure) {
    guard byte & 0x30 == 0, byte & 0x40 == 0 || allowsCompression else { throw WebSocketFailure(.reservedBits) }
    guard let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else { throw WebSocketFailure(.reservedOpcode) }
    header = WebSocketFrameHeader()
    header.isFinal = byte & 0x80 != 0
    header.isCompressed = byte & 0x40 != 0
    header.opcode = opcode
    if opcode.isControl, !header.isFinal { throw WebSocketFailure(.fragmentedControl) }
    if header.isCompressed, opcode.isControl || opcode == .continuation {
      throw WebSocketFailure(.compressedContinuation)
    }
  }

  private mutating func readLength(_ byte: UInt8) throws(WebSocketFailure) -> Bool {
    header.isMasked = byte & 0x80 != 0
    if header.isMasked != expectsMask { throw WebSocketFailure(expectsMask ? .unmaskedFrame : .maskedFrame) }
    let short = byte & 0x7F
    if header.opcode.isControl, short > 125 { throw WebSocketFailure(.longControl) }
    header.length = Int(short)
    wide = 0
    switch short {
    case 126:
      step = .extended(left: 2)
      return false
    case 127:
      step = .extended(left: 8)
      return false
    default:
      return finishLength()
    }
  }

  private mutating func finishLength() -> Bool {
    step = header.isMasked ? .mask(left: 4) : .first
    return !header.isMasked
  }
}
