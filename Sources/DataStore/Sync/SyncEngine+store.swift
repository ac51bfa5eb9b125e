internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletSyncEngine
internal import MartletVocabulary

extension SyncEngine {
  /// The engine that continues what a store has.
  init(
    _ models: [SyncModel], parents: [[Int]], _ configuration: DataStoreConfiguration, _ writer: ClientWriter,
    heldChanges: Int?, seed: UInt64
  ) throws {
    var settings = SyncConfiguration(
      models: zip(models, parents).map { model, parents in
        let filter = model.predicate == .all ? [] : Array(model.predicate.canonicalText.utf8)
        return SyncConfiguration.Model(parents: parents, filter: filter)
      })
    settings.syncInterval = configuration.syncInterval.wholeNanoseconds / 1_000_000
    settings.syncMaxRecords = configuration.syncMaxRecords
    settings.retry = configuration.retry
    settings.faultedAttempts = max(1, configuration.faultedAttempts)
    if let heldChanges { settings.heldChanges = heldChanges }
    let progress = try models.map { model in
      try writer.value(ModelProgress.name(model.shape)).flatMap { ModelProgress(text: $0) } ?? ModelProgress()
    }
    let cursor = try writer.value(SyncHistory.feedName).flatMap { Cursor($0) }
    self.init(
      settings, progress: progress, pending: try writer.outbox(), position: cursor?.offset ?? 0, seed: seed)
  }
}
