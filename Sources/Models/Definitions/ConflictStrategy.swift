/// What happens to a write whose `_version` is not the stored record's (`@versioned`). The names are AppSync's.
package enum ConflictStrategy: String, Sendable, Hashable, CaseIterable {
  /// The write is merged field by field with the stored record.
  case automerge = "AUTOMERGE"
  /// The write is refused, and the error has the stored record.
  case optimisticConcurrency = "OPTIMISTIC_CONCURRENCY"
  /// Code of the program decides.
  case lambda = "LAMBDA"
}

/// A field that the store keeps of each record beside its own fields, shown for versioned models.
///
/// Its slot is negative: the slots of a model's fields grow when fields are added to a schema in force, and plans that
/// were made before keep their meaning.
package enum RecordStamp: Int, Sendable, CaseIterable {
  case version
  case deleted
  case lastChangedAt

  package var fieldName: String {
    switch self {
    case .version: "_version"
    case .deleted: "_deleted"
    case .lastChangedAt: "_lastChangedAt"
    }
  }

  /// The slot of the field in a resolved record.
  package var slot: Int { -1 - rawValue }
}
