internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModels
internal import MartletStore
internal import MartletVocabulary

/// A page of a sync query as a `ModelXConnection`.
private struct SyncConnection: ResolvedObject {
  let query: SyncQuery
  let page: SyncQuery.Page
  let cursor: String

  func value(of field: String) -> ResolvedValue {
    switch field {
    case "items":
      .list(
        page.items.map { item in
          let stamps = query.model.stamps(item.version, item.changed, isDeleted: item.isDeleted)
          return .record(query.model.value(item.record, of: item.whole, stamps))
        })
    case "nextToken": page.next.map { .value(.string($0.text)) } ?? .null
    case "startedAt": .value(.int(page.startedAt))
    case "cursor": .value(.string(cursor))
    case "isReplacement": .value(.bool(page.isReplacement))
    case "expected": page.expected.map { .value(.int(Int64($0))) } ?? .null
    default: .null
    }
  }
}

extension ModelResolvers {
  /// Answers `syncXs`.
  func sync(_ model: ModelDefinition, _ batch: BatchRequest, _ completion: @escaping Completion) {
    let outcome = outcome(of: model, batch, for: .sync)
    let query: SyncQuery
    do {
      try outcome?.require(.sync, batch.fieldName, on: batch.typeName)
      query = try SyncQuery(model, batch.arguments, outcome, limits)
    } catch {
      return fail(batch, error, completion)
    }
    read(batch, completion) { snapshot throws(StoreError) in
      try query.page(snapshot)
    } answer: { [store] page in
      let cursor = Cursor(term: store.lineage.currentTerm, offset: page.position)
      return [.object(SyncConnection(query: query, page: page, cursor: cursor.description))]
    }
  }
}
