internal import MartletJSONTree

/// The changes that one transaction made to one node, and what is sent of them: encoded once for all listeners of the
/// node.
///
/// Confined to its loop.
final class SharedChanges {
  /// Below the node; an empty value is a deletion.
  let writes: [TreeWrite]
  /// Of the transaction.
  let offset: Int64
  /// Leaves that were written.
  let leaves: Int
  private var pushes: [Int64?: [[UInt8]]] = [:]
  private var notice: [[UInt8]]?
  private var event: [UInt8]?

  init(_ writes: [TreeWrite], at offset: Int64) {
    self.writes = writes
    self.offset = offset
    leaves = writes.reduce(0) { $0 + $1.node.rowCount }
  }

  /// The frames of the push to listeners like this one; `encode` makes them when there are none.
  func frames(for listener: TreeListener, _ encode: () -> [[UInt8]]) -> [[UInt8]] {
    if let frames = listener.isWatch ? notice : pushes[listener.tag] { return frames }
    let frames = encode()
    if listener.isWatch { notice = frames } else { pushes[listener.tag] = frames }
    return frames
  }

  /// The event of a stream; `encode` makes it when there is none.
  func event(_ encode: () -> [UInt8]) -> [UInt8] {
    if let event { return event }
    let bytes = encode()
    event = bytes
    return bytes
  }
}
