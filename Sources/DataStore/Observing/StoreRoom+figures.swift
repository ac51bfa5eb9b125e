internal import MartletLiveQueries
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

extension StoreRoom {
  /// What each live query is and has cost.
  func figures() async throws(DataStoreError) -> [LiveQueryFigures] {
    try await perform { [self] writer in
      let watchers = streams.live.withLock { live in
        live.watchers.sorted { $0.key < $1.key }.map { _, watcher in
          (watcher, live.set.window(watcher.query), live.set.aggregate(watcher.query))
        }
      }
      return try watchers.compactMap { watcher, window, aggregate in
        guard let query = window?.query ?? aggregate?.selection else { return nil }
        let counters = window?.counters ?? WindowCounters()
        return LiveQueryFigures(
          modelName: mappings[query.model].name, rows: window?.rows.count, rowsKept: window?.keptCount,
          localTime: watcher.first.map { $0 - watcher.begin }, serverTime: watcher.synced.map { $0 - watcher.begin },
          lastResultTime: watcher.last.map { $0 - watcher.begin }, changes: counters.changes,
          rowsTouched: counters.rowsTouched, rowsRead: counters.rowsRead, requests: counters.requests,
          plan: try writer.plan(query))
      }
    }
  }
}

extension LiveAggregate {
  /// The records that it is computed over.
  fileprivate var selection: WindowQuery {
    WindowQuery(
      model: query.model, predicate: query.predicate, order: RowOrder([], primaryKey: query.primaryKey),
      related: query.related)
  }
}
