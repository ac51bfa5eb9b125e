internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSchema
internal import MartletStore

/// A page of records as a `ModelXConnection`.
struct Connection: ResolvedObject {
  let model: ModelDefinition
  let page: ListPage

  func value(of field: String) -> ResolvedValue {
    switch field {
    case "items": .list(page.records.map { .record(model.value($0.record)) })
    case "nextToken": page.token.map { .value(.string($0)) } ?? .null
    default: .null
    }
  }
}

extension ModelDefinition {
  /// A record as the executor reads it.
  func value(_ record: Record) -> RecordValue {
    RecordValue(typeName: name, slots: record.values)
  }
}
