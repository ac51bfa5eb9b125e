internal import MartletAccess
internal import MartletModels

/// What a caller sees of the records of one model in the tree, by the model's rules.
struct RecordSight: Sendable {
  /// Nil where nothing restricts the caller.
  private let outcome: RuleOutcome?
  /// A record is seen where each of these is allowed.
  private let operations: [AccessOperation]

  /// - Parameters:
  ///   - operation: `get` for one record, `list` for many.
  ///   - isListening: Whether the caller is to see changes as they happen.
  init(_ rights: Rights?, _ model: ModelDefinition, _ operation: AccessOperation, isListening: Bool) {
    outcome = rights?.outcome(of: model.number, for: operation == .get ? .get : .list)
    operations = isListening ? [operation, .listen] : [operation]
  }

  /// Whether no record can be seen.
  var isBlind: Bool {
    guard let outcome else { return false }
    return operations.contains { outcome.predicate(for: $0) == .none }
  }

  /// The records that are seen.
  var predicate: Predicate {
    guard let outcome else { return .all }
    return Predicate.and(operations.map { outcome.predicate(for: $0) })
  }

  /// The record as the caller sees it, hidden fields being null; nil when the caller does not see it.
  func view(of record: Record) -> Record? {
    guard let outcome else { return record }
    var view = record
    for operation in operations {
      guard outcome.predicate(for: operation).matches(record) else { return nil }
      let masked = outcome.masked(record, for: operation)
      for (field, value) in masked.values.enumerated() where value.isNull { view.values[field] = .null }
    }
    return view
  }
}
