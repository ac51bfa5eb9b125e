/// What a frame carries (RFC 6455 section 5.2).
package enum WebSocketOpcode: UInt8, Sendable {
  case continuation = 0x0
  case text = 0x1
  case binary = 0x2
  case close = 0x8
  case ping = 0x9
  case pong = 0xA

  /// Control frames may stand between the fragments of a message.
  package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// Writes frames. A server's are plain; a client's carry a mask that the caller drew at random.
package enum WebSocketFrame {
  /// Appends the head of one frame whose payload has `length` bytes in all.
  ///
  /// - Parameters:
  ///   - compressed: sets RSV1, the mark of a message under permessage-deflate (RFC 7692 section 6).
  ///   - mask: a client's mask, wire order from the lowest byte up; nil on a server.
  package static func appendHeader(
    _ opcode: WebSocketOpcode, length: Int, final: Bool = true, compressed: Bool = false, mask: UInt32? = nil,
    to output: inout [UInt8]
  ) {
    output.append(opcode.rawValue | (final ? 0x80 : 0) | (compressed ? 0x40 : 0))
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    if length < 126 {
      output.append(UInt8(truncatingIfNeeded: length) | maskBit)
    } else if length <= 0xFFFF {
      output.append(126 | maskBit)
      output.append(UInt8(truncatingIfNeeded: length >> 8))
      output.append(UInt8(truncatingIfNeeded: length))
    } else {
      output.append(127 | maskBit)
      for shift in stride(from: 56, through: 0, by: -8) {
        output.append(UInt8(truncatingIfNeeded: length >> shift))
      }
    }
    if let mask {
      for shift in stride(from: UInt32(0), through: 24, by: 8) {
        output.append(UInt8(truncatingIfNeeded: mask >> shift))
      }
    }
  }

  /// Appends a whole frame.
  package static func append(
    _ opcode: WebSocketOpcode, _ payload: [UInt8], final: Bool = true, compressed: Bool = false, mask: UInt32? = nil,
    to output: inout [UInt8]
  ) {
    appendHeader(opcode, length: payload.count, final: final, compressed: compressed, mask: mask, to: &output)
    let start = output.count
    output.append(contentsOf: payload)
    if let mask { applyMask(mask, offset: 0, to: &output, from: start) }
  }

  /// Appends a server's text frame made of three pieces, with no array in between: the way of a fan-out.
  package static func appendText(
    prefix: [UInt8], payload: [UInt8], suffix: [UInt8], to output: inout [UInt8]
  ) {
    appendHeader(.text, length: prefix.count + payload.count + suffix.count, to: &output)
    MartletWire.append(prefix, to: &output)
    MartletWire.append(payload, to: &output)
    MartletWire.append(suffix, to: &output)
  }

  /// Appends a server's compressed text frame whose middle was compressed once for all members.
  ///
  /// Prefix and suffix travel as stored blocks. `deflated` must end with the empty stored block of a sync flush
  /// (`00 00 FF FF`) and must have been compressed with no earlier context; only for connections that negotiated
  /// `server_no_context_takeover`, as their next message may not refer to this one.
  package static func appendCompressedText(
    prefix: [UInt8], deflated: [UInt8], suffix: [UInt8], to output: inout [UInt8]
  ) {
    let length =
      StoredBlock.encodedCount(prefix.count) + deflated.count + StoredBlock.encodedCount(suffix.count) + 1
    appendHeader(.text, length: length, compressed: true, to: &output)
    StoredBlock.append(prefix, to: &output)
    output.append(contentsOf: deflated)
    StoredBlock.append(suffix, to: &output)
    // The first byte of an empty stored block; the receiver appends the other four.
    output.append(0)
  }
}

/// DEFLATE blocks that hold their bytes as they are (RFC 1951 section 3.2.4).
package enum StoredBlock {
  /// Appends `bytes` as stored blocks, none of them final.
  package static func append(_ bytes: [UInt8], to output: inout [UInt8]) {
    var start = 0
    while start < bytes.count {
      let count = min(bytes.count - start, 0xFFFF)
      output.append(0)
      output.append(UInt8(truncatingIfNeeded: count))
      output.append(UInt8(truncatingIfNeeded: count >> 8))
      output.append(~UInt8(truncatingIfNeeded: count))
      output.append(~UInt8(truncatingIfNeeded: count >> 8))
      output.append(contentsOf: bytes[start..<start + count])
      start += count
    }
  }

  /// How many bytes `append` writes for `count` bytes.
  package static func encodedCount(_ count: Int) -> Int {
    count + (count + 0xFFFE) / 0xFFFF * 5
  }
}
