package import MartletJSON
package import MartletModels

/// A record as a live query shows it. One reference: all windows share it, and copying a piece of one costs a count for
/// each row.
package struct LiveRow: Sendable {
  /// `@unchecked Sendable` holds because everything but `made` is immutable, and `made` is used under one lock.
  fileprivate final class Values: @unchecked Sendable {
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

  /// The same without a count of references.
  package var uncounted: UncountedRow { UncountedRow(values) }

  /// The row with other values.
  package func with(_ record: Record) -> LiveRow {
    LiveRow(key: key, record: record, version: version, isPending: isPending)
  }
}

/// A row to read fields of without counting references, which takes longer than reading them. Valid as long as the row
/// is held.
@safe
package struct UncountedRow {
  private let values: Unmanaged<LiveRow.Values>

  fileprivate init(_ values: LiveRow.Values) { unsafe self.values = .passUnretained(values) }

  /// Whether a write of this client to the record has not been acknowledged.
  package var isPending: Bool { unsafe values._withUnsafeGuaranteedRef { $0.isPending } }

  /// Whether `LiveRow.made` is there. Under its lock.
  package var isMade: Bool { unsafe values._withUnsafeGuaranteedRef { $0.made != nil } }

  /// Sets `LiveRow.made`, unless it is there. Under its lock.
  package func make(_ object: any AnyObject & Sendable) {
    unsafe values._withUnsafeGuaranteedRef { if $0.made == nil { $0.made = object } }
  }

  /// Whether a field has no value.
  package func isNull(_ field: Int) -> Bool { value(field).isNull }

  /// A field's value.
  package func value(_ field: Int) -> JSONValue { unsafe values._withUnsafeGuaranteedRef { $0.record[field] } }

  /// A field's value where it is text.
  package func text(_ field: Int) -> String? {
    unsafe values._withUnsafeGuaranteedRef { row in
      guard field < row.record.values.count, case .string(let text) = row.record.values[field] else { return nil }
      return text
    }
  }

  /// A field's value where it is a whole number.
  package func integer(_ field: Int) -> Int64? {
    unsafe values._withUnsafeGuaranteedRef { row in
      guard field < row.record.values.count, case .int(let number) = row.record.values[field] else { return nil }
      return number
    }
  }

  /// A field's value where it is a number with a fraction.
  package func number(_ field: Int) -> Double? {
    unsafe values._withUnsafeGuaranteedRef { row in
      guard field < row.record.values.count, case .double(let number) = row.record.values[field] else { return nil }
      return number
    }
  }

  /// A field's value where it is true or false.
  package func flag(_ field: Int) -> Bool? {
    unsafe values._withUnsafeGuaranteedRef { row in
      guard field < row.record.values.count, case .bool(let flag) = row.record.values[field] else { return nil }
      return flag
    }
  }
}

extension ContiguousArray<LiveRow> {
  /// The row at a place, which the array holds.
  package func uncounted(at place: Int) -> UncountedRow { self[place].uncounted }
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
