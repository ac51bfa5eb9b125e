internal import MartletLiveQueries
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

extension StoreRoom {
  /// What each live query is and has cost.
  func figures() async throws(DataStoreError) -> [LiveQueryFigures] {
    try await perform { [self] writer in
      let watchers = streams.live.withLock { live in
        live.allWatchers.map { watcher in
          (
            begin: watcher.begin, shown: watcher.shown, synced: watcher.synced,
            window: watcher.query.flatMap { live.set.window($0) },
            aggregate: watcher.query.flatMap { live.set.aggregate($0) }
          )
        }
      }
      return try watchers.compactMap { watcher in
        let window = watcher.window
        guard let query = window?.query ?? watcher.aggregate?.selection else { return nil }
        let counters = window?.counters ?? watcher.aggregate?.counters ?? WindowCounters()
        return LiveQueryFigures(
          modelName: mappings[query.model].name, rows: window?.rows.count, rowsKept: window?.keptCount,
          localTime: watcher.shown.map { $0.first - watcher.begin },
          serverTime: watcher.synced.map { $0 - watcher.begin },
          lastResultTime: watcher.shown.map { $0.last - watcher.begin }, changes: counters.changes,
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
      model: query.model, predicate: query.predicate,
      order: RowOrder([], primaryKey: query.primaryKey, jsonFields: query.jsonFields), related: query.related)
  }
}
