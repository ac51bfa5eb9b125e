/// Bounds on what one connection of the tree's protocol accepts and sends.
package struct TreeWireLimits: Hashable, Sendable {
  /// UTF-8 bytes of one WebSocket text frame. The protocol's clients cut messages at 16,384 characters.
  package var frameBytes = 16_384
  /// Bytes of one message over all its frames. The protocol's clients may send 16 MiB of value.
  package var messageBytes = 17 * 1_048_576
  /// Nested arrays and objects of one message: a tree has 32 levels, a message five around it.
  package var messageDepth = 64
  /// Listeners of one connection at a time: each costs the server an entry in its index.
  package var listens = 10_000
  /// Requests that were read and not answered. A client beyond it is not waiting for answers.
  package var openRequests = 20_000
  /// Writes for the connection's end that one connection may leave.
  package var deferredWrites = 1_000
  /// Keys of a listener's window that a client names as those it has. It names none of a larger window, which is sent
  /// whole; of further ones a server sends the values.
  package var windowKeys = 1_000

  package init() {}
}

/// Why a peer's message was refused. The connection ends.
package struct TreeWireError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// A frame that cannot stand here: a piece count of another kind, or pieces beyond their count.
    case malformedFrame
    case messageTooLarge
    case malformedJSON
    /// Half of a surrogate pair in a text, which JSON's escapes can write and UTF-8 cannot.
    case loneSurrogate
    /// Not the envelope `{"t", "d"}`, or a member of the wrong type.
    case malformedMessage
    /// A path, a value or a window that the tree refuses.
    case invalidTree
    /// A write without its value, or with one of the wrong type.
    case invalidWrite
    case tooManyRequests
  }

  package let code: Code
  /// What was wrong, and where.
  package let text: String

  package init(_ code: Code, _ text: String) {
    self.code = code
    self.text = text
  }

  package var description: String { "\(code.rawValue): \(text)" }
}

/// Cuts a message into frames: one frame when it is short, else the decimal number of pieces and then the pieces.
package enum TreeFraming {
  /// The text of a keep-alive, which is not a message.
  package static let keepAlive = "0"
  /// A client's question whether the server is still there; the server sends control `o`.
  package static let ping = #"{"t":"c","d":{"t":"p","d":{}}}"#

  package static func frames(of message: [UInt8], limits: TreeWireLimits) -> [String] {
    guard message.count > limits.frameBytes else { return [String(decoding: message, as: UTF8.self)] }
    var pieces: [String] = []
    var start = 0
    while start < message.count {
      var end = min(start + max(4, limits.frameBytes), message.count)
      // Not inside a character.
      while end < message.count, message[end] & 0xC0 == 0x80 { end -= 1 }
      pieces.append(String(decoding: message[start..<end], as: UTF8.self))
      start = end
    }
    return [String(pieces.count)] + pieces
  }
}

/// Joins frames to messages.
package struct TreeFrameReader: Sendable {
  /// Bytes of one message.
  package var messageBytes: Int
  private var missing = 0
  private var bytes: [UInt8] = []

  package init(limits: TreeWireLimits) { messageBytes = limits.messageBytes }

  /// Takes one frame.
  ///
  /// - Returns: the message that is whole now; nil after a keep-alive or a piece that others follow.
  package mutating func read(_ frame: String) throws(TreeWireError) -> [UInt8]? {
    if missing > 0 {
      try append(frame)
      missing -= 1
      guard missing == 0 else { return nil }
      defer { bytes = [] }
      return bytes
    }
    // A message is an object, a short number is a count of pieces.
    guard let first = frame.utf8.first, (0x30...0x39).contains(first) else {
      try append(frame)
      defer { bytes = [] }
      return bytes
    }
    guard frame.utf8.count <= 6, let count = Int(frame) else {
      throw TreeWireError(.malformedFrame, "neither a message nor a count of pieces")
    }
    // Each piece but the last is full, and an empty one says nothing.
    guard count <= messageBytes else { throw tooLarge }
    missing = count
    return nil
  }

  private mutating func append(_ frame: String) throws(TreeWireError) {
    guard bytes.count + frame.utf8.count <= messageBytes else {
      throw tooLarge
    }
    bytes += Array(frame.utf8)
  }

  private var tooLarge: TreeWireError {
    TreeWireError(.messageTooLarge, "a message is larger than the limit messageBytes (\(messageBytes))")
  }
}
