public import MartletGraphQLClient
internal import MartletModels
internal import MartletStore
internal import MartletSyncEngine

extension DataStore {
  /// Builds what syncs a store of these models.
  static func shell(
    _ models: [any Model.Type], _ mappings: [ModelMapping], _ sync: DataStoreSync, _ surroundings: StoreSurroundings
  ) -> SyncShell {
    SyncShell(mappings, parents: mappings.parents, sync, surroundings) {
      var found: [SyncModel] = []
      for (number, type) in models.enumerated() {
        found.append(try Self.syncModel(type, mappings[number], sync.configuration))
      }
      return found
    }
  }

  private static func syncModel<M: Model>(
    _ type: M.Type, _ mapping: ModelMapping, _ configuration: DataStoreConfiguration
  ) throws(DataStoreError) -> SyncModel {
    let expression = configuration.syncExpressions.first { $0.modelName.utf8.elementsEqual(mapping.name.utf8) }
    let predicate = try expression.map { expression throws(DataStoreError) in
      try mapping.predicate(expression.predicate())
    }
    return SyncModel(type, mapping, predicate ?? .all)
  }

  func startSync() async throws(DataStoreError) {
    let room = try open()
    guard let sync = room.sync else { return }
    try await room.perform { writer in sync.start(writer) }
  }

  func stopSync() async throws(DataStoreError) {
    let room = try open()
    guard let sync = room.sync else { return }
    try await room.perform { writer in sync.stop(writer) }
  }

  /// Tries again at once what waits for a lost network, instead of at the end of its delay. For programs that know when
  /// the network is there again.
  public func networkIsReachable() async throws(DataStoreError) {
    let room = try open()
    guard let sync = room.sync else { return }
    try await room.perform { writer in sync.handle(.reachable, writer) }
  }

  // MARK: Status

  /// What happens in the sync from now on. The stream ends when its consumer does. Empty for a store without a server.
  ///
  ///     for await event in store.events { if case .ready = event { … } }
  public var events: AsyncStream<DataStoreEvent> {
    (try? open())?.sync?.report.news.events() ?? AsyncStream { $0.finish() }
  }

  /// How far the sync is. A store without a server has everything.
  public var syncStatus: DataStoreSyncStatus { (try? open())?.sync?.report.news.status ?? .settled }

  /// How far the sync is, now and after each change; a slow consumer gets the last one.
  public var syncStatuses: AsyncStream<DataStoreSyncStatus> {
    (try? open())?.sync?.report.news.statuses() ?? AsyncStream { $0.finish() }
  }

  /// How many changes of the feed wait for a sync in memory.
  package func heldChanges() async throws(DataStoreError) -> Int {
    let room = try open()
    return try await room.perform { _ in room.sync?.engine?.heldCount ?? 0 }
  }

  /// How many events of observers wait for the store to be started.
  package func heldEvents() async throws(DataStoreError) -> Int {
    let room = try open()
    return try await room.perform { _ in room.streams.heldCount }
  }

  // MARK: Writes

  /// Creates or updates a record, as `save` does, and returns how far the write is on its way to the server.
  ///
  /// - Throws: as `save`.
  public func submit<M: Model>(
    _ model: M, where condition: QueryPredicate? = nil
  ) async throws(DataStoreError) -> WriteHandle {
    let room = try open()
    let mapping = try room.mapping(M.self)
    let record = try mapping.decodableRecord(model)
    let predicate = try condition.map { condition throws(DataStoreError) in try mapping.predicate(condition) }
    room.resume()
    return try await room.submit {
      try $0.save(model: mapping.shape.model, record, where: predicate, form: mapping.form(M.self))
    }
  }

  /// Deletes a record, as `delete` does, and returns how far the deletion is on its way to the server.
  ///
  /// - Throws: as `delete`.
  public func submitDeletion<M: Model>(
    of model: M, where condition: QueryPredicate? = nil
  ) async throws(DataStoreError) -> WriteHandle {
    let room = try open()
    let mapping = try room.mapping(M.self)
    let key = mapping.key(try mapping.record(model))
    let predicate = try condition.map { condition throws(DataStoreError) in try mapping.predicate(condition) }
    room.resume()
    return try await room.submit { _ = try $0.delete(model: mapping.shape.model, key, where: predicate) }
  }

  // MARK: Dead letters

  /// The writes that the server has refused for good, oldest first. Each stays until it is retried or discarded.
  public func rejectedWrites() async throws(DataStoreError) -> [RejectedWrite] {
    let room = try open()
    let stored = try await room.perform { try $0.letters() }
    return stored.map { RejectedWrite($0, room.mappings[$0.model]) }
  }

  /// Makes a refused write again, on the record as it is now: elements that it added to a list are added to the list
  /// that is there, and so on (`docs/guides/conflicts.md`).
  ///
  /// - Throws: `recordMissing` when its record is gone, else as `save` and `delete`. The write stays refused then.
  public func retry(_ write: RejectedWrite) async throws(DataStoreError) {
    let room = try open()
    _ = try await room.commit { try RefusedWrites($0).retry(write.write) }
  }

  /// Forgets a refused write.
  public func discard(_ write: RejectedWrite) async throws(DataStoreError) {
    let room = try open()
    _ = try await room.commit { try RefusedWrites($0).discard(write.write) }
  }
}

extension StoreRoom {
  /// Runs `body` in one durable transaction and returns the handle of its last write.
  func submit(
    _ body: @escaping @Sendable (ClientTransaction) throws -> Void
  ) async throws(DataStoreError) -> WriteHandle {
    try await perform(isWrite: true) { [self] writer in
      let commit = try write(writer) { try body($0) }
      streams.publish(commit, .local)
      guard let sync else {
        let handle = WriteHandle(0)
        handle.end(.localOnly)
        return handle
      }
      // Before the engine knows of the write, so that no step of it is missed.
      let number = commit.numbers.last ?? 0
      let handle = sync.report.track(number, at: try writer.place(of: number))
      sync.committed(commit, writer)
      return handle
    }
  }
}

extension [ModelMapping] {
  /// Positions of the models that each one belongs to.
  fileprivate var parents: [[Int]] {
    map { $0.relations.values.filter(\.holdsKey).map(\.target).sorted() }
  }
}
