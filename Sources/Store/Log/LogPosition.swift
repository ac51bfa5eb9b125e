internal import MartletChangeFeed
package import MartletVocabulary

/// Where the log begins and ends.
package struct LogPosition: Sendable, Equatable {
  /// The term that writes now.
  package var term: UInt64
  /// The newest durable offset; 0 before the first.
  package var head: Int64
  /// The oldest offset that has not expired; one past the head of an empty log.
  package var firstRetained: Int64
  /// Bytes of the entries that have not expired.
  package var bytes: Int64
  /// The running checksum over everything up to `head`.
  package var checksum: UInt64

  init(_ folded: StoreFile.Folded) {
    term = folded.lineage.currentTerm
    head = folded.position.head
    firstRetained = folded.position.first
    bytes = folded.position.bytes
    checksum = folded.position.checksum.value
  }

  /// A cursor after everything durable.
  package var cursor: Cursor { Cursor(term: term, offset: head) }
}
