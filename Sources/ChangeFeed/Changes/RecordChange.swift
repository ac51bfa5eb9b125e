package import MartletJSON
package import MartletModels

/// What happened to a record.
package enum ChangeKind: UInt8, Sendable, Hashable, CaseIterable {
  case create, update, delete
}

/// A change of one record.
package struct RecordChange: Sendable {
  package var kind: ChangeKind
  /// The model's number in the schema in force.
  package var model: Int
  package var key: RecordKey
  /// The record's version after the change.
  package var version: Int64
  /// The record after the change; before it, for a deletion.
  package var image: Record
  /// For an update, what the changed fields held before, by field position.
  package var old: [(field: Int, value: JSONValue)]

  package init(
    kind: ChangeKind, model: Int, key: RecordKey, version: Int64, image: Record,
    old: [(field: Int, value: JSONValue)] = []
  ) {
    self.kind = kind
    self.model = model
    self.key = key
    self.version = version
    self.image = image
    self.old = old
  }

  /// The record before the change: the image overlaid with the old values of changed fields. Nil for a creation.
  package var before: Record? {
    switch kind {
    case .create: return nil
    case .delete: return image
    case .update:
      var before = image
      for (field, value) in old { before.values[field] = value }
      return before
    }
  }

  /// The record after the change; nil for a deletion.
  package var after: Record? { kind == .delete ? nil : image }
}
