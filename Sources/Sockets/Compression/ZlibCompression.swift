package import MartletWire

/// permessage-deflate by zlib, for one connection and the parameters its ends agreed on.
///
/// With context takeover a direction keeps its stream; without, it borrows one from the loop's pool for each message.
/// Confined to its loop.
package final class ZlibCompression: WebSocketCompression {
  private let pool: ZlibPool
  private let outgoingBits: Int
  private let incomingBits: Int
  private let keepsOutgoing: Bool
  private let keepsIncoming: Bool
  private var outgoing: ZlibStream?
  private var incoming: ZlibStream?

  package init(_ agreed: WebSocketDeflate, isServer: Bool, pool: ZlibPool) {
    self.pool = pool
    outgoingBits = isServer ? agreed.serverMaxWindowBits : agreed.clientMaxWindowBits
    incomingBits = isServer ? agreed.clientMaxWindowBits : agreed.serverMaxWindowBits
    keepsOutgoing = !(isServer ? agreed.serverNoContextTakeover : agreed.clientNoContextTakeover)
    keepsIncoming = !(isServer ? agreed.clientNoContextTakeover : agreed.serverNoContextTakeover)
  }

  /// The window this side compresses with, when it forgets each message: then a payload compressed once, with the same
  /// window, can be spliced into the messages of many connections. Nil with context takeover.
  package var sharedWindowBits: Int? { keepsOutgoing ? nil : outgoingBits }

  package func compress(_ message: [UInt8], into output: inout [UInt8]) {
    guard let stream = outgoing ?? pool.take(.deflate, windowBits: outgoingBits) else {
      return Self.store(message, into: &output)
    }
    stream.deflate(message, into: &output)
    if keepsOutgoing {
      outgoing = stream
    } else {
      pool.give(stream, windowBits: outgoingBits)
    }
  }

  package func decompress(
    _ bytes: [UInt8], endsMessage: Bool, limit: Int, into output: inout [UInt8]
  ) -> WebSocketDecompression {
    guard let stream = incoming ?? pool.take(.inflate, windowBits: incomingBits) else { return .malformed }
    incoming = stream
    let outcome = stream.inflate(bytes, limit: limit, into: &output)
    if endsMessage, !keepsIncoming {
      incoming = nil
      pool.give(stream, windowBits: incomingBits)
    }
    switch outcome {
    case .done: return .done
    case .tooLarge: return .tooLarge
    case .malformed: return .malformed
    }
  }

  /// Stored blocks, used when no compressor can be allocated: longer than the message, and correct.
  private static func store(_ message: [UInt8], into output: inout [UInt8]) {
    for start in stride(from: 0, to: message.count, by: 65_535) {
      let part = message[start..<min(start + 65_535, message.count)]
      let low = UInt8(truncatingIfNeeded: part.count)
      let high = UInt8(truncatingIfNeeded: part.count >> 8)
      output += [0, low, high, ~low, ~high]
      output += part
    }
    output += [0, 0, 0, 0xFF, 0xFF]
  }
}
