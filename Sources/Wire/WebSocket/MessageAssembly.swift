/// The message being put together from its fragments.
struct MessageAssembly {
  private var opcode: WebSocketOpcode?
  private(set) var isCompressed = false
  var payload: [UInt8] = []
  private var validator = UTF8Validator()
  private var validated = 0
  /// Compressed bytes taken for this message, bounded because empty blocks decompress to nothing.
  private var compressedBytes = 0

  var isText: Bool { opcode == .text }

  /// A data frame begins.
  mutating func begin(_ header: WebSocketFrameHeader, limit: Int) throws(WebSocketFailure) {
    if header.opcode == .continuation {
      if opcode == nil { throw WebSocketFailure(.strayContinuation) }
    } else {
      if opcode != nil { throw WebSocketFailure(.interruptedMessage) }
      opcode = header.opcode
      isCompressed = header.isCompressed
    }
    // Incompressible bytes grow by five per stored block; a whole block more allows for any sensible encoder.
    let allowed = isCompressed ? limit + limit / 1024 + 1024 - compressedBytes : limit - payload.count
    if header.length > allowed { throw WebSocketFailure(.messageTooLarge) }
    if isCompressed { compressedBytes += header.length }
  }

  /// Checks the text that has arrived since the last call.
  mutating func checkText() throws(WebSocketFailure) {
    guard isText, validated < payload.count else { return }
    guard validator.accept(payload, from: validated) else { throw WebSocketFailure(.invalidText) }
    validated = payload.count
  }

  /// Takes compressed bytes.
  mutating func decompress(
    _ bytes: [UInt8], endsMessage: Bool, with compression: (any WebSocketCompression)?, limit: Int
  ) throws(WebSocketFailure) {
    guard let compression else { throw WebSocketFailure(.reservedBits) }
    switch compression.decompress(bytes, endsMessage: endsMessage, limit: limit, into: &payload) {
    case .done: try checkText()
    case .tooLarge: throw WebSocketFailure(.messageTooLarge)
    case .malformed: throw WebSocketFailure(.invalidCompression)
    }
  }

  /// The last frame is complete: answers the message and starts over.
  mutating func end(
    with compression: (any WebSocketCompression)?, limit: Int
  ) throws(WebSocketFailure) -> [UInt8] {
    if isCompressed {
      try decompress([0x00, 0x00, 0xFF, 0xFF], endsMessage: true, with: compression, limit: limit)
    }
    if isText, !validator.isComplete { throw WebSocketFailure(.invalidText) }
    let message = payload
    self = MessageAssembly()
    return message
  }
}
