internal import MartletRuntime

/// Outgoing buffers that are not in use. A connection holds one only while it has bytes to send.
struct BufferPool {
  private var buffers: [OutboundBuffer] = []
  private var bytes = 0
  private let bufferBytes: Int
  private let poolBytes: Int

  /// Capacity of a new buffer: a burst of eight events of 200 bytes without growing.
  private static let firstCapacity = 2048

  init(limits: LoopLimits) {
    bufferBytes = limits.pooledBufferBytes
    poolBytes = limits.poolBytes
  }

  /// An empty buffer, and whether it had to be made.
  mutating func take() -> (buffer: OutboundBuffer, isNew: Bool) {
    if let buffer = buffers.popLast() {
      bytes -= buffer.bytes.capacity
      return (buffer, false)
    }
    var buffer = OutboundBuffer()
    buffer.reserve(Self.firstCapacity)
    return (buffer, true)
  }

  /// Takes an emptied buffer back, or lets its memory go when the pool is full or the buffer has grown large.
  mutating func give(_ buffer: consuming OutboundBuffer) {
    let capacity = buffer.bytes.capacity
    guard buffer.isEmpty, capacity > 0, capacity <= bufferBytes, bytes + capacity <= poolBytes else { return }
    bytes += capacity
    buffers.append(buffer)
  }
}
