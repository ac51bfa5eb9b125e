package import MartletModels

/// A record with the store's bookkeeping.
package struct StoredRecord: Sendable, Equatable {
  /// The fields' values, by their position in the model.
  package var record: Record
  /// 1 when created, one more with every accepted write.
  package var version: Int64
  /// When it was created, in milliseconds since 1970.
  package var created: Int64
  /// When it was last written, in milliseconds since 1970.
  package var changed: Int64

  package init(record: Record, version: Int64, created: Int64, changed: Int64) {
    self.record = record
    self.version = version
    self.created = created
    self.changed = changed
  }
}
