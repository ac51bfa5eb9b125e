package import MartletJSON
package import MartletModelSchema

/// What happened to a record, or that the application published an event of its own.
package enum ChangeKind: UInt8, Sendable, Hashable, CaseIterable {
  case create, update, delete, event
}

/// One entry of the change log.
package struct Change: Sendable {
  /// Dense number in commit order, from 1.
  package var offset: Int64
  package var kind: ChangeKind
  /// The model's number; -1 for an event.
  package var model: Int
  package var key: RecordKey
  /// The record's version after the change.
  package var version: Int64
  /// The record after the change; before it, for a deletion.
  package var image: Record
  /// For an update, what the changed fields held before. Without them nobody could tell that a record stopped matching.
  package var old: [(field: Int, value: JSONValue)]
  /// Whether this is the last change of its transaction: the only place where a cursor may rest.
  package var endsTransaction: Bool
  /// For an event: its topic and payload.
  package var topic: String
  package var payload: JSONValue

  /// A change of a record.
  package init(
    offset: Int64, kind: ChangeKind, model: Int, key: RecordKey, version: Int64, image: Record,
    old: [(field: Int, value: JSONValue)] = [], endsTransaction: Bool
  ) {
    self.offset = offset
    self.kind = kind
    self.model = model
    self.key = key
    self.version = version
    self.image = image
    self.old = old
    self.endsTransaction = endsTransaction
    topic = ""
    payload = .null
  }

  /// An event of the application's own.
  package init(offset: Int64, topic: String, payload: JSONValue, endsTransaction: Bool) {
    self.init(
      offset: offset, kind: .event, model: -1, key: RecordKey(values: []), version: 0, image: Record(values: []),
      endsTransaction: endsTransaction)
    self.topic = topic
    self.payload = payload
  }
}

/// The changes of one group commit, in order; shared by every loop and the ring, never changed.
package final class ChangeBatch: Sendable {
  /// The run of the server that wrote them.
  package let term: UInt64
  package let changes: [Change]
  /// Bytes the changes take in the log; what the ring is bounded by.
  package let byteCount: Int

  package let firstOffset: Int64
  package let lastOffset: Int64

  /// A batch of at least one change, in order. `byteCount` is what they take in the log.
  package init(changes: [Change], firstOffset: Int64, lastOffset: Int64, term: UInt64, byteCount: Int = 0) {
    precondition(!changes.isEmpty, "a batch has at least one change")
    self.term = term
    self.changes = changes
    self.firstOffset = firstOffset
    self.lastOffset = lastOffset
    self.byteCount = byteCount
  }
}
