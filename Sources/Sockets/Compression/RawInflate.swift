/// Decompresses a whole DEFLATE stream.
package enum RawInflate {
  /// What `bytes` decompress to; nil when they are malformed or decompress to more than `limit` bytes.
  @Sendable package static func inflate(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
    guard let stream = ZlibStream(.inflate, windowBits: 15, level: 0) else { return nil }
    var output: [UInt8] = []
    return stream.inflate(bytes, limit: limit, into: &output) == .done ? output : nil
  }
}
