package import MartletVocabulary
package import MartletWire

/// One WebSocket machine with the bytes it wrote and the events it reported.
package struct WebSocketEnd {
  package var machine: WebSocketMachine
  package var output: [UInt8] = []
  package var events: [WebSocketEvent] = []
  package var now = Instant.zero

  package init(
    _ role: WebSocketRole = .server, limits: WebSocketLimits = WebSocketLimits(),
    compression: (any WebSocketCompression)? = nil
  ) {
    machine = WebSocketMachine(role: role, limits: limits, compression: compression, at: .zero)
  }

  package static func client(
    limits: WebSocketLimits = WebSocketLimits(), compression: (any WebSocketCompression)? = nil
  )
    -> Self
  {
    WebSocketEnd(.client(masks: SeededRandom(seed: 7)), limits: limits, compression: compression)
  }

  package mutating func receive(_ bytes: [UInt8], byteByByte: Bool = false) {
    if byteByByte {
      for byte in bytes { receive([byte]) }
    } else {
      machine.receive(bytes.span.bytes, at: now, output: &output, events: &events)
    }
  }

  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  package mutating func pass(_ duration: Duration) {
    now = now + duration
    machine.reachedDeadline(at: now, output: &output, events: &events)
  }

  /// The code of the close frame this server wrote, if it wrote one last.
  package var sentCloseCode: UInt16? {
    guard let mark = output.lastIndex(of: 0x88), mark + 3 < output.count, output[mark + 1] & 0x7F >= 2 else {
      return nil
    }
    return UInt16(output[mark + 2]) << 8 | UInt16(output[mark + 3])
  }

  package var failure: WebSocketFailure.Rule? {
    for case .closed(let closure) in events { return closure.failure?.rule }
    return nil
  }
}

/// A frame as a client sends it.
package func masked(_ opcode: UInt8, _ payload: [UInt8] = [], final: Bool = true, reserved: UInt8 = 0) -> [UInt8] {
  var bytes: [UInt8] = [opcode | reserved | (final ? 0x80 : 0)]
  if payload.count < 126 {
    bytes.append(0x80 | UInt8(payload.count))
  } else if payload.count <= 0xFFFF {
    bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
  } else {
    bytes.append(0x80 | 127)
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8((payload.count >> shift) & 0xFF)) }
  }
  let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
  bytes += key
  for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index % 4]) }
  return bytes
}

package func text(_ string: String) -> [UInt8] { Array(string.utf8) }

/// Compresses into stored blocks, which is legal DEFLATE; expands stored blocks only.
package final class StoredBlocks: WebSocketCompression {
  package init() {}

  private var pending: [UInt8] = []

  package func compress(_ message: [UInt8], into output: inout [UInt8]) {
    StoredBlock.append(message, to: &output)
    output += [0x00, 0x00, 0x00, 0xFF, 0xFF]
  }

  package func decompress(
    _ bytes: [UInt8], endsMessage: Bool, limit: Int, into output: inout [UInt8]
  ) -> WebSocketDecompression {
    pending += bytes
    while pending.count >= 5 {
      let length = Int(pending[1]) | Int(pending[2]) << 8
      guard pending[0] == 0, pending[1] == ~pending[3], pending[2] == ~pending[4] else { return .malformed }
      guard pending.count >= 5 + length else { break }
      guard output.count + length <= limit else { return .tooLarge }
      output += pending[5..<5 + length]
      pending.removeFirst(5 + length)
    }
    return endsMessage && !pending.isEmpty ? .malformed : .done
  }
}
