internal import MartletAccess
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModels
internal import MartletStore

/// A page of records as a `ModelXConnection`.
struct RecordConnection: ResolvedObject {
  let model: ModelDefinition
  let page: ListPage
  /// What the rules allow the caller; nil where nothing restricts it.
  let outcome: RuleOutcome?

  func value(of field: String) -> ResolvedValue {
    switch field {
    case "items": .list(page.records.map { model.value($0, outcome, .list) })
    case "nextToken": page.token.map { .value(.string($0)) } ?? .null
    default: .null
    }
  }
}

extension ModelDefinition {
  /// A record as the executor reads it. `whole` is the record itself, hidden fields included, which rules of relations
  /// read.
  func value(_ view: Record, of whole: Record, _ stamps: [JSONValue]) -> RecordValue {
    RecordValue(
      typeName: name, slots: view.values, stamps: stamps, attachment: access.relationRules.isEmpty ? nil : whole)
  }

  /// A record as a caller sees it by an operation; null when the rules do not show it. Nil for `outcome` restricts
  /// nothing.
  func value(_ stored: StoredRecord, _ outcome: RuleOutcome?, _ operation: AccessOperation) -> ResolvedValue {
    value(stored.record, stamps(stored.version, stored.changed), outcome, operation)
  }

  /// The same for a record and its stamps.
  func value(
    _ record: Record, _ stamps: [JSONValue], _ outcome: RuleOutcome?, _ operation: AccessOperation
  ) -> ResolvedValue {
    guard let outcome else { return .record(RecordValue(typeName: name, slots: record.values, stamps: stamps)) }
    return outcome.view(of: record, for: operation).map { .record(value($0, of: record, stamps)) } ?? .null
  }

  /// The values of a versioned record's stamps, in the order of `RecordStamp`; none for a model without versions.
  func stamps(_ version: Int64, _ changed: Int64, isDeleted: Bool = false) -> [JSONValue] {
    conflicts == nil ? [] : [.int(version), isDeleted ? true : .null, .int(changed)]
  }
}
