/// The visible changes of one group commit, in order; shared by every loop and the ring, never changed.
package final class ChangeBatch: Sendable {
  /// The term they were written in.
  package let term: UInt64
  /// Empty when the group holds only entries that subscribers cannot see.
  package let changes: [Change]
  /// Bytes the group takes in the log; what the ring is bounded by.
  package let byteCount: Int

  /// The group's first and last offsets, entries that subscribers cannot see included.
  package let firstOffset: Int64
  package let lastOffset: Int64

  package init(changes: [Change], firstOffset: Int64, lastOffset: Int64, term: UInt64, byteCount: Int = 0) {
    precondition(firstOffset <= lastOffset, "a batch has at least one offset")
    self.term = term
    self.changes = changes
    self.firstOffset = firstOffset
    self.lastOffset = lastOffset
    self.byteCount = byteCount
  }
}
