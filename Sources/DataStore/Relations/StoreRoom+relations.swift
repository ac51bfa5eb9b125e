internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletStore

extension StoreRoom {
  /// The record with a key; nil when there is none.
  func record<M: Model>(_ type: M.Type, _ key: RecordKey) async throws(DataStoreError) -> M? {
    let mapping = try mapping(type)
    return try await models(mapping.query(key), mapping, as: type).first
  }

  /// The records that a relation of `owner` leads to, in the order of their keys.
  func related<M: Model>(to owner: RelationOwner, as type: M.Type) async throws(DataStoreError) -> [M] {
    let mapping = try mapping(type)
    let models = mapping.models.models
    guard let relation = models.first(where: { $0.name == owner.model })?.relations[owner.field],
      relation.target == mapping.shape.model
    else {
      throw DataStoreError(.invalidModel, "\(owner.model).\(owner.field) does not lead to \(mapping.name)")
    }
    return try await self.models(mapping.query(relation.otherFields, owner.key.values), mapping, as: type)
  }

  private func models<M: Model>(
    _ query: WindowQuery, _ mapping: ModelMapping, as type: M.Type
  ) async throws(DataStoreError) -> [M] {
    try await read { store in try mapping.models(query, as: type, from: store) }
  }
}
