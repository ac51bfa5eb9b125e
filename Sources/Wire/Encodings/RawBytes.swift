// The one file of this module that touches memory through pointers. Every pointer lives inside one closure, every
// index is checked against the buffer's count first, and loads are unaligned loads of plain integers.

/// The byte at `index`, which must lie inside the span.
@inline(__always)
package func byte(_ span: borrowing RawSpan, at index: Int) -> UInt8 {
  precondition(index >= 0 && index < span.byteCount, "an index must lie inside its span")
  return unsafe span.unsafeLoad(fromByteOffset: index, as: UInt8.self)
}

/// Appends `more` to `bytes`. Where frames are written to thousands of members this is most of what the program itself
/// does; without the pointer each piece is also a change of its reference count and back.
func append(_ more: [UInt8], to bytes: inout [UInt8]) {
  // The buffer is valid for the call.
  unsafe more.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
}

/// The index of the first byte with its top bit set at or after `start`, or the count.
func firstNonASCII(_ bytes: [UInt8], from start: Int) -> Int {
  unsafe bytes.withUnsafeBytes { buffer in
    var index = start
    while index + 8 <= buffer.count {
      let word = unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if word & 0x8080_8080_8080_8080 != 0 { break }
      index += 8
    }
    while index < buffer.count, unsafe buffer[index] < 0x80 { index += 1 }
    return index
  }
}

/// Applies a WebSocket mask to `bytes` from `start` on. `key` holds the four mask bytes in wire order from its lowest
/// byte up; `offset` is how many payload bytes came before.
func applyMask(_ key: UInt32, offset: Int, to bytes: inout [UInt8], from start: Int) {
  let turned = offset & 3 == 0 ? key : key >> UInt32(8 * (offset & 3)) | key << UInt32(32 - 8 * (offset & 3))
  let wide = UInt64(turned) | UInt64(turned) << 32
  unsafe bytes.withUnsafeMutableBytes { buffer in
    var index = start
    while index + 8 <= buffer.count {
      let word = unsafe UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      unsafe buffer.storeBytes(of: (word ^ wide).littleEndian, toByteOffset: index, as: UInt64.self)
      index += 8
    }
    while index < buffer.count {
      let part = UInt8(truncatingIfNeeded: turned >> UInt32(8 * ((index - start) & 3)))
      unsafe buffer[index] ^= part
      index += 1
    }
  }
}
