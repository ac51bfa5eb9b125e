package import MartletModels

/// A record as a live query shows it.
package struct LiveRow: Sendable, Hashable {
  /// The record's primary key.
  package var key: RecordKey
  /// The record's values.
  package var record: Record
  /// The version that the server gave it; 0 for a record that only this client has.
  package var version: Int64
  /// Whether a write of this client to the record has not been acknowledged.
  package var isPending: Bool

  /// A row of a record.
  package init(key: RecordKey, record: Record, version: Int64 = 0, isPending: Bool = false) {
    self.key = key
    self.record = record
    self.version = version
    self.isPending = isPending
  }
}

/// What one commit did to one record. Both images are nil for a record that came and went within the commit.
package struct RowChange: Sendable, Hashable {
  /// The model's number.
  package var model: Int
  /// The record before the commit; nil when there was none.
  package var before: LiveRow?
  /// The record after the commit; nil when it was deleted.
  package var after: LiveRow?

  /// A change of a record.
  package init(model: Int, before: LiveRow?, after: LiveRow?) {
    self.model = model
    self.before = before
    self.after = after
  }
}
