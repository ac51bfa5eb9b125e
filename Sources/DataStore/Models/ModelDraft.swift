internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletStore

/// What a model's type alone says about its fields, before the models it relates to are known.
struct ModelDraft {
  let name: String
  /// The names of the type's fields, in order.
  let fields: [String]
  let key: [String]
  /// The declared relations by field.
  let relations: [String: ModelAssociation]
  let indexes: [StoredIndex]
  /// What records from before a field hold in it.
  let defaults: [String: JSONValue]
  /// The types of fields that are found in a store, by field.
  let lazy: [String: any RelationValue.Type]
  /// How fields that are not relations are stored.
  let storages: [String: ColumnStorage]
  /// The fields whose texts are dates or times.
  let moments: Set<String>
  /// Whether a value of the type needs one in a field.
  let needs: @Sendable (String) -> Bool

  init<M: Model>(_ type: M.Type) throws(DataStoreError) {
    name = type.modelName
    fields = M.CodingKeys.allCases.map(\.stringValue)
    key = type.primaryKey.map(\.stringValue)
    var declared = Declarations()
    if let stored = type as? any StoredModel.Type { declared = Self.declarations(of: stored) }
    relations = declared.relations
    indexes = declared.indexes
    defaults = declared.defaults
    needs = { field in TypeProbe.needs(M.self, field) }
    let probe = TypeProbe()
    do {
      _ = try M(from: ProbeDecoder(probe: probe, codingPath: []))
    } catch {
      // What stopped it may be declared; the check below names the first field that is not.
    }
    lazy = probe.lazy
    moments = probe.moments
    var storages: [String: ColumnStorage] = [:]
    for field in fields where relations[field] == nil {
      guard lazy[field] == nil else {
        throw DataStoreError(.invalidModel, "\(name).\(field) is a relation that \(name).relations does not declare")
      }
      guard let storage = declared.types[field] ?? probe.found[field] else {
        throw DataStoreError(.invalidModel, "the type of \(name).\(field) cannot be determined")
      }
      storages[field] = storage
    }
    self.storages = storages
    guard !key.isEmpty else {
      throw DataStoreError(.invalidModel, "\(name) has no field id, and primaryKey does not name others")
    }
    for field in key where storages[field] == nil {
      throw DataStoreError(.invalidModel, "\(name).\(field) is part of the key and so cannot be a relation")
    }
  }

  private struct Declarations {
    var types: [String: ColumnStorage] = [:]
    var relations: [String: ModelAssociation] = [:]
    var indexes: [StoredIndex] = []
    var defaults: [String: JSONValue] = [:]
  }

  private static func declarations<M: StoredModel>(of type: M.Type) -> Declarations {
    Declarations(
      types: Dictionary(type.fieldTypes.map { ($0.key.stringValue, $0.value.storage) }) { first, _ in first },
      relations: Dictionary(type.relations.map { ($0.key.stringValue, $0.value) }) { first, _ in first },
      indexes: type.indexes,
      defaults: Dictionary(type.fieldDefaults.map { ($0.key.stringValue, $0.value) }) { first, _ in first })
  }
}
