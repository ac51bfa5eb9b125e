/// Streams between messages. A connection without context takeover holds one only while a message is in work, so a loop
/// needs as many as there are messages in work at a time: usually one of each kind.
///
/// Confined to its loop.
package final class ZlibPool {
  private struct Kind: Hashable {
    let direction: ZlibStream.Direction
    let windowBits: Int
  }

  /// Streams kept of one kind. More are made when needed and let go afterwards.
  private static let kept = 2

  let level: Int32
  private var free: [Kind: [ZlibStream]] = [:]
  /// Streams made since the start; for tests.
  private(set) var made = 0

  /// A pool whose compressors use zlib's `level`, 1 (fast) to 9. Most of what is to be gained from small JSON messages
  /// is gained at 1, for a third of the time of the default 6.
  package init(level: Int32 = 1) {
    self.level = min(max(level, 1), 9)
  }

  func take(_ direction: ZlibStream.Direction, windowBits: Int) -> ZlibStream? {
    if let stream = free[Kind(direction: direction, windowBits: windowBits)]?.popLast() { return stream }
    made += 1
    return ZlibStream(direction, windowBits: windowBits, level: level)
  }

  func give(_ stream: ZlibStream, windowBits: Int) {
    let kind = Kind(direction: stream.direction, windowBits: windowBits)
    guard free[kind, default: []].count < Self.kept else { return }
    stream.reset()
    free[kind, default: []].append(stream)
  }
}
