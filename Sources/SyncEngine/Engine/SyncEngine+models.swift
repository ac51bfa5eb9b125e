internal import MartletVocabulary

/// A model's sync in the present attempt.
struct SyncRun: Sendable, Hashable {
  var model: Int
  var kind: SyncKind
  var isStarted = false
  var startedAt: Int64?
  var position: Int64 = 0
  /// How many records the pages have brought.
  var added = 0
  var deleted = 0

  /// The model's progress once the sync is complete.
  func progress(_ filter: [UInt8], at wall: Int64) -> ModelProgress {
    ModelProgress(lastSync: startedAt, completedAt: wall, filter: filter)
  }

  /// Takes a page. Returns whether it is the first of all records where a delta was asked for.
  mutating func take(_ page: SyncPage) -> Bool {
    let isFirst = startedAt == nil
    startedAt = startedAt ?? page.startedAt
    position = isFirst ? page.position : min(position, page.position)
    count(page.changes)
    guard isFirst, page.isFull, kind != .full else { return false }
    kind = .full
    return true
  }

  private mutating func count(_ changes: [RemoteChange]) {
    let deletions = changes.count { $0.image.record == nil }
    added += changes.count - deletions
    deleted += deletions
  }
}

extension SyncEngine {
  mutating func subscribed(_ resumed: Bool, _ cursor: String?, _ wall: Int64) {
    beginning = FeedBeginning(resumed: resumed, cursor)
    actions += [.hub(.networkStatus(active: true)), .hub(.subscriptionsEstablished)]
    if !resumed { synced = [] }
    queue = configuration.owed(progress, isResumed: resumed, at: wall)
    if resumed {
      // The feed has brought what there was for the records that a truncated model has; its pages bring no others.
      queue.removeAll { truncated.contains($0.model) }
      synced.formUnion(Set(configuration.models.indices).subtracting(queue.map(\.model)).subtracting(truncated))
    }
    phase = .syncing
    actions.append(.hub(.syncQueriesStarted(models: queue.map(\.model))))
    next()
  }

  /// Queries the next model, or becomes live.
  private mutating func next() {
    guard let run = queue.first else { return becomeLive() }
    queue[0].isStarted = true
    if run.kind == .full { actions.append(.beginFullSync(model: run.model)) }
    query(run, nextToken: nil)
  }

  mutating func receive(_ page: SyncPage, _ wall: Int64) {
    guard var run = queue.first else { return }
    beginning.take(page.cursor)
    if run.take(page) { actions.append(.beginFullSync(model: run.model)) }
    queue[0] = run
    actions.append(.applyPage(model: run.model, page.changes))
    guard let token = page.nextToken else { return finish(run, wall) }
    if let limit = configuration.syncMaxRecords, run.added >= limit { return finish(run, wall, truncatedAt: limit) }
    query(run, nextToken: token)
  }

  private mutating func query(_ run: SyncRun, nextToken token: String?) {
    let left = configuration.syncMaxRecords.map { max(1, $0 - run.added) }
    actions.append(.query(generation: generation, model: run.model, run.kind, nextToken: token, upTo: left))
  }

  /// - Parameter limit: how many records it may bring, where the server has more. A sync of the model that was complete
  ///   counts no more then: what this one leaves out, no feed brings. Records beyond it stay, unless a gap of the feed
  ///   may have hidden that they are gone.
  private mutating func finish(_ run: SyncRun, _ wall: Int64, truncatedAt limit: Int? = nil) {
    let (model, isFull) = (run.model, run.kind == .full)
    progress[model] = limit == nil ? run.progress(configuration.models[model].filter, at: wall) : ModelProgress()
    truncated.remove(model)
    if limit == nil { synced.insert(model) } else { truncated.insert(model) }
    advance(past: model)
    let sweeps = isFull && (limit == nil || beginning.isAfterGap)
    actions += [
      .finishModel(model: model, progress[model], sweepBefore: sweeps ? run.position : nil),
      .hub(
        limit.map { .modelTruncated(model: model, limit: $0) }
          ?? .modelSynced(model: model, isFullSync: isFull, added: run.added, deleted: run.deleted)),
    ]
    queue.removeFirst()
    next()
  }

  /// A sync has finished with a model. To be subscribed is not enough for a success: where the pages fail each time,
  /// the pauses between the attempts must grow.
  private mutating func advance(past model: Int) {
    if finished.insert(model).inserted { reconnection.succeeded() }
  }

  private mutating func becomeLive() {
    if let begun = beginning.cursor {
      actions.append(.apply([], cursor: begun))
      // The pages were read after the feed began there: they have what came before.
      if let cursor = Cursor(begun) { pass(cursor.offset) }
    }
    beginning = FeedBeginning()
    if held.isOverfull {
      actions.append(.disconnect)
      return subscribe()
    }
    phase = .live
    reconnection.succeeded()
    finished = []
    for change in held.take() { apply(change.changes, change.cursor, change.position) }
    actions += [
      .hub(.syncQueriesReady), .hub(.syncStarted), .hub(.ready), .hub(.outboxStatus(isEmpty: outbox.isEmpty)),
    ]
  }

  // MARK: The feed

  mutating func feed(_ changes: [RemoteChange], _ cursor: String?, _ position: Int64) {
    switch phase {
    // The cursor must not be stored before the pages that the changes build on.
    case .subscribing where cursor != nil && configuration.isComplete(progress): apply(changes, cursor, position)
    case .subscribing, .syncing: held.append(HeldChanges.Part(changes: changes, cursor: cursor, position: position))
    case .live: apply(changes, cursor, position)
    case .stopped, .waiting, .terminated: break
    }
  }

  private mutating func apply(_ changes: [RemoteChange], _ cursor: String?, _ position: Int64) {
    actions.append(.apply(changes, cursor: cursor))
    actions += changes.map { .hub(.syncReceived($0)) }
    pass(position)
  }

  /// This client has everything up to a position.
  private mutating func pass(_ position: Int64) {
    self.position = max(self.position, position)
    for number in outbox.seen(upTo: self.position) { actions.append(.progress(number: number, .seen)) }
  }
}

extension SyncConfiguration {
  /// The syncs that are owed, parents first. A feed that resumes brings all that a model with a complete sync missed.
  fileprivate func owed(_ progress: [ModelProgress], isResumed: Bool, at wall: Int64) -> [SyncRun] {
    DependencyOrder.order(parents: models.map(\.parents)).compactMap { model in
      let stored = progress.indices.contains(model) ? progress[model] : ModelProgress()
      let filter = models[model].filter
      if isResumed, stored.isComplete(for: filter) { return nil }
      return SyncRun(model: model, kind: .decide(stored, filter: filter, now: wall, interval: syncInterval))
    }
  }

  /// Whether what a resumed feed brings needs no page before it.
  fileprivate func isComplete(_ progress: [ModelProgress]) -> Bool {
    models.indices.allSatisfy { model in
      progress.indices.contains(model) && progress[model].lastSync != nil
        && progress[model].filter == models[model].filter
    }
  }
}
