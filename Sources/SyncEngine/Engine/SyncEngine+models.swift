/// A model's sync in the present attempt.
struct SyncRun: Sendable, Hashable {
  var model: Int
  var kind: SyncKind
  var isStarted = false
  var startedAt: Int64?
  var position: Int64 = 0
  var added = 0
  var deleted = 0
}

extension SyncEngine {
  mutating func subscribed(_ resumed: Bool, _ cursor: String?, _ wall: Int64) {
    readyCursor = resumed ? nil : cursor
    needsCursor = !resumed && cursor == nil
    (failures, hasRefreshed) = (0, false)
    actions += [.hub(.networkStatus(active: true)), .hub(.subscriptionsEstablished)]
    if !resumed { synced = [] }
    let order = DependencyOrder.order(parents: configuration.models.map(\.parents))
    // A feed that resumes brings all that a model with a complete sync has missed.
    queue = order.compactMap { model in
      let stored = progress.indices.contains(model) ? progress[model] : ModelProgress()
      let filter = configuration.models[model].filter
      guard !resumed || !stored.isComplete(for: filter) else {
        synced.insert(model)
        return nil
      }
      return SyncRun(
        model: model, kind: .decide(stored, filter: filter, now: wall, interval: configuration.syncInterval))
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
    actions.append(.query(generation: generation, model: run.model, run.kind, nextToken: nil))
  }

  mutating func receive(_ page: SyncPage, _ wall: Int64) {
    guard var run = queue.first else { return }
    let isFirst = run.startedAt == nil
    // The feed was established before the first page was read: it has all that came after.
    if needsCursor, let cursor = page.cursor {
      readyCursor = cursor
      needsCursor = false
    }
    run.startedAt = run.startedAt ?? page.startedAt
    run.position = isFirst ? page.position : min(run.position, page.position)
    if isFirst, page.isFull, run.kind != .full {
      run.kind = .full
      actions.append(.beginFullSync(model: run.model))
    }
    let deleted = page.changes.count { $0.image.record == nil }
    run.added += page.changes.count - deleted
    run.deleted += deleted
    queue[0] = run
    actions.append(.applyPage(model: run.model, page.changes))
    if let limit = configuration.syncMaxRecords, run.added >= limit, page.nextToken != nil {
      actions.append(.hub(.modelTruncated(model: run.model, limit: limit)))
      queue.removeFirst()
      return next()
    }
    if let token = page.nextToken {
      actions.append(.query(generation: generation, model: run.model, run.kind, nextToken: token))
    } else {
      finish(run, wall)
    }
  }

  private mutating func finish(_ run: SyncRun, _ wall: Int64) {
    let isFull = run.kind == .full
    let progress = ModelProgress(
      lastSync: run.startedAt, completedAt: wall, filter: configuration.models[run.model].filter)
    self.progress[run.model] = progress
    synced.insert(run.model)
    actions += [
      .finishModel(model: run.model, progress, sweepBefore: isFull ? run.position : nil),
      .hub(.modelSynced(model: run.model, isFullSync: isFull, added: run.added, deleted: run.deleted)),
    ]
    queue.removeFirst()
    next()
  }

  private mutating func becomeLive() {
    if let readyCursor { actions.append(.apply([], cursor: readyCursor)) }
    readyCursor = nil
    if held.isOverfull {
      actions.append(.disconnect)
      return subscribe()
    }
    phase = .live
    for change in held.take() { apply(change.changes, change.cursor, change.position) }
    actions += [
      .hub(.syncQueriesReady), .hub(.syncStarted), .hub(.ready), .hub(.outboxStatus(isEmpty: outbox.isEmpty)),
    ]
  }

  // MARK: The feed

  mutating func feed(_ changes: [RemoteChange], _ cursor: String?, _ position: Int64) {
    switch phase {
    // The cursor must not be stored before the pages that the changes build on.
    case .subscribing where cursor != nil && isComplete: apply(changes, cursor, position)
    case .subscribing, .syncing: held.append(HeldChanges.Part(changes: changes, cursor: cursor, position: position))
    case .live: apply(changes, cursor, position)
    case .stopped, .waiting, .terminated: break
    }
  }

  /// Whether what a resumed feed brings needs no page before it.
  private var isComplete: Bool {
    configuration.models.indices.allSatisfy { model in
      progress.indices.contains(model) && progress[model].lastSync != nil
        && progress[model].filter == configuration.models[model].filter
    }
  }

  private mutating func apply(_ changes: [RemoteChange], _ cursor: String?, _ position: Int64) {
    actions.append(.apply(changes, cursor: cursor))
    actions += changes.map { .hub(.syncReceived($0)) }
    self.position = max(self.position, position)
    for number in outbox.seen(upTo: self.position) { actions.append(.progress(number: number, .seen)) }
  }
}
