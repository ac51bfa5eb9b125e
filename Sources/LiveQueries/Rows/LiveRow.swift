package import MartletModels

/// A record as a live query shows it. One reference: all windows share it, and copying a piece of one costs a count for
/// each row.
package struct LiveRow: Sendable {
  /// `@unchecked Sendable` holds because everything but `made` is immutable, and `made` is used under one lock.
  private final class Values: @unchecked Sendable {
    let key: RecordKey
    let record: Record
    let version: Int64
    let isPending: Bool
    var made: (any AnyObject & Sendable)?

    init(_ key: RecordKey, _ record: Record, _ version: Int64, _ isPending: Bool) {
      self.key = key
      self.record = record
      self.version = version
      self.isPending = isPending
    }
  }

  private let values: Values

  /// A row of a record.
  package init(key: RecordKey, record: Record, version: Int64 = 0, isPending: Bool = false) {
    values = Values(key, record, version, isPending)
  }

  /// The record's primary key.
  package var key: RecordKey { values.key }
  /// The record's values.
  package var record: Record { values.record }
  /// The version that the server gave it; 0 for a record that only this client has.
  package var version: Int64 { values.version }
  /// Whether a write of this client to the record has not been acknowledged.
  package var isPending: Bool { values.isPending }

  /// What a store's consumers have made of the row, which has it so that they need no list of their own. Once it is
  /// there it stays. To be read and set under one lock.
  package var made: (any AnyObject & Sendable)? { values.made }

  /// Whether `made` is there; the same without a count of references. Under the same lock.
  package var isMade: Bool { values.made != nil }

  /// Sets `made`, unless it is there.
  package func make(_ object: any AnyObject & Sendable) {
    if values.made == nil { values.made = object }
  }

  /// The row with other values.
  package func with(_ record: Record) -> LiveRow {
    LiveRow(key: key, record: record, version: version, isPending: isPending)
  }
}

extension LiveRow: Hashable {
  /// Compares what the rows hold; one row with itself costs nothing.
  package static func == (left: LiveRow, right: LiveRow) -> Bool {
    left.values === right.values
      || left.version == right.version && left.isPending == right.isPending && left.key == right.key
        && left.record == right.record
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(version)
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
