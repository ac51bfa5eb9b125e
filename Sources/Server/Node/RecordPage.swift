internal import MartletModels
internal import MartletStore

/// A page of a model's records.
public struct RecordPage: Sendable, Hashable {
  /// The records, with every stored field.
  public var items: [JSONObject]
  /// The argument `nextToken` of the next page; nil when this is the last.
  public var nextToken: String?

  init(_ page: ListPage, _ model: ModelDefinition) {
    items = page.records.map { Self.object($0.record, model) }
    nextToken = page.token
  }

  static func object(_ record: Record, _ model: ModelDefinition) -> JSONObject {
    JSONObject(model.fields.enumerated().map { (key: $1.name, value: record[$0]) })
  }

  /// The index called `name`; nil for nil.
  static func index(_ name: String?, of model: ModelDefinition) throws(ServerError) -> ModelIndex? {
    guard let name else { return nil }
    guard let index = model.indexes.first(where: { $0.name == name }) else {
      throw ServerError(.write, "The model \"\(model.name)\" has no index \"\(name)\".")
    }
    return index
  }
}
