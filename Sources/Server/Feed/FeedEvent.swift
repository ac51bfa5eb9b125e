package import MartletVocabulary

/// An event's payload, encoded once for all members of a group. Rooms add in subclasses what their connections share.
package class FeedEvent {
  package let cursor: Cursor
  package let payload: [UInt8]
  package let endsTransaction: Bool

  /// When the change was durable, for an event that is delivered as it is committed.
  final var committed: Instant?

  final var offset: Int64 { cursor.offset }

  package init(_ payload: [UInt8], at cursor: Cursor, endsTransaction: Bool) {
    self.cursor = cursor
    self.payload = payload
    self.endsTransaction = endsTransaction
  }
}
