public import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletStore

/// A local store of models with live queries.
///
///     let store = try DataStore(models: [Post.self], storage: .file(path))
///     try await store.save(Post(id: "1", title: "post one", rating: 11))
///     let post = Post.keys
///     for try await snapshot in store.observeQuery(
///       for: Post.self, where: post.title.beginsWith("post") && post.rating > 10.0, sort: .ascending(post.rating))
///     { print(snapshot.items.count, snapshot.isSynced) }
///
/// Every operation works without a network. A save or delete is on the disk when it returns, and live queries have it.
/// Several stores can be open in one process, each with a file of its own.
public final class DataStore: Sendable {
  /// Nil for the stand-in that `Martlet.DataStore` is before it is configured.
  private let room: StoreRoom?

  /// Opens or creates a store.
  ///
  /// - Parameters:
  ///   - models: the models it holds. A file with fewer or other fields is migrated; records are kept.
  ///   - storage: where it keeps them.
  ///   - sync: the server that it is synced with; nil for a store of its own.
  /// - Throws: `invalidModel` when a field's type cannot be determined; `migration` when a type or a key has changed;
  ///   `storage` when the file cannot be opened.
  public convenience init(
    models: [any Model.Type], storage: DataStoreStorage, sync: DataStoreSync? = nil
  ) throws(DataStoreError) {
    try self.init(models: models, storage: storage, sync: sync, on: .system)
  }

  /// Opens or creates a store on other surroundings than the system's: a simulation's.
  package init(
    models: [any Model.Type], storage: DataStoreStorage, sync: DataStoreSync?, on surroundings: StoreSurroundings
  ) throws(DataStoreError) {
    let plan = try ModelPlan(models)
    room = try StoreRoom(
      plan, storage, sync: sync.map { Self.shell(models, plan.mappings, $0, surroundings) }, surroundings)
  }

  private init() { room = nil }

  static let unconfigured = DataStore()

  func open() throws(DataStoreError) -> StoreRoom {
    guard let room else { throw DataStoreError(.notConfigured, "there is no DataStore") }
    return room
  }

  // MARK: Writing

  /// Creates or updates a record, and returns it as stored.
  ///
  /// - Parameter condition: must hold for the stored record; a record that is not there fulfils none.
  /// - Throws: `invalidCondition`, or what the store says. Nothing was changed.
  @discardableResult
  public func save<M: Model>(_ model: M, where condition: QueryPredicate? = nil) async throws(DataStoreError) -> M {
    let room = try open()
    let mapping = try room.mapping(M.self)
    let record = try mapping.record(model)
    let condition = try condition.map { condition throws(DataStoreError) in try mapping.condition(condition) }
    room.resume()
    return try await room.commit { transaction in
      try transaction.save(
        model: mapping.shape.model, record, where: condition?.predicate, related: condition?.related ?? RelatedTerms(),
        form: mapping.form(M.self))
      let key = mapping.key(record)
      // A row without relations is what the transaction has; a query would find the same.
      let stored =
        mapping.relations.isEmpty
        ? try transaction.row(model: mapping.shape.model, key)
        : try transaction.rows(mapping.query(key), .page(offset: 0, count: 1)).rows.first
      // A value that does not decode again is not stored: no query of the model would work then.
      return try mapping.model(stored?.record ?? record, as: M.self)
    }
  }

  /// Deletes a record. One that is not there is deleted already.
  ///
  /// - Throws: `invalidCondition` when the record is there and the condition does not hold for it.
  public func delete<M: Model>(_ model: M, where condition: QueryPredicate? = nil) async throws(DataStoreError) {
    let room = try open()
    let mapping = try room.mapping(M.self)
    try await delete(mapping, mapping.key(try mapping.record(model)), condition)
  }

  /// Deletes the record with this identifier. One that is not there is deleted already.
  public func delete<M: Model>(_ type: M.Type, withId id: String) async throws(DataStoreError) {
    try await delete(type, withIdentifier: ModelIdentifier(id))
  }

  /// Deletes the record with this identifier, of one or several fields. One that is not there is deleted already.
  public func delete<M: Model>(
    _ type: M.Type, withIdentifier identifier: ModelIdentifier
  ) async throws(DataStoreError) {
    let mapping = try open().mapping(type)
    try await delete(mapping, try mapping.key(identifier), nil)
  }

  private func delete(
    _ mapping: ModelMapping, _ key: RecordKey, _ condition: QueryPredicate?
  ) async throws(DataStoreError) {
    let room = try open()
    let condition = try condition.map { condition throws(DataStoreError) in try mapping.condition(condition) }
    room.resume()
    _ = try await room.commit {
      try $0.delete(
        model: mapping.shape.model, key, where: condition?.predicate, related: condition?.related ?? RelatedTerms())
    }
  }

  /// Deletes all records that fulfil the predicate, in one transaction.
  public func delete<M: Model>(_ type: M.Type, where predicate: QueryPredicate) async throws(DataStoreError) {
    let room = try open()
    let mapping = try room.mapping(type)
    let query = try mapping.query(predicate, nil, nil)
    room.resume()
    try await room.commit { transaction in
      for row in try transaction.rows(query, .page(offset: 0, count: nil)).rows {
        _ = try transaction.delete(model: query.model, row.key)
      }
    }
  }

  // MARK: Reading

  /// The record with this identifier; nil when there is none.
  public func query<M: Model>(_ type: M.Type, byId id: String) async throws(DataStoreError) -> M? {
    try await query(type, byIdentifier: ModelIdentifier(id))
  }

  /// The record with this identifier, of one or several fields; nil when there is none.
  public func query<M: Model>(
    _ type: M.Type, byIdentifier identifier: ModelIdentifier
  ) async throws(DataStoreError) -> M? {
    let room = try open()
    let key = try room.mapping(type).key(identifier)
    room.resume()
    return try await room.record(type, key)
  }

  /// The records that fulfil the predicate, in the order of `sort` and then of their keys.
  ///
  /// - Parameter page: which of them; all for nil.
  public func query<M: Model>(
    _ type: M.Type, where predicate: QueryPredicate? = nil, sort: QuerySort? = nil, paginate page: QueryPage? = nil
  ) async throws(DataStoreError) -> [M] {
    let room = try open()
    let mapping = try room.mapping(type)
    let query = try mapping.query(predicate, sort, page)
    room.resume()
    return try await room.read { store in try mapping.models(query, as: type, from: store) }
  }

  // MARK: Observing

  /// The changes of a model's records from now on, whatever makes them.
  ///
  /// Work starts with the call. The stream ends when its consumer does, by `cancel()`, or with an error when the model
  /// is not the store's, the predicate names an unknown field, 10,000 events wait for the consumer, other processes
  /// have changed that many records since this one looked, or one has removed fields; never for the network.
  public func observe<M: Model>(
    _ type: M.Type, where predicate: QueryPredicate? = nil
  ) -> MartletAsyncThrowingSequence<MutationEvent> {
    .changes(of: self) { room in try room.mapping(type).observed(predicate ?? .all) }
  }

  /// The changes of the record with this identifier from now on, also when it is deleted and made again.
  public func observe<M: Model>(_ type: M.Type, withId id: String) -> MartletAsyncThrowingSequence<MutationEvent> {
    observe(type, withIdentifier: ModelIdentifier(id))
  }

  /// The same of a key of one or several fields; ends with `invalidQuery` for an identifier of another number of them.
  public func observe<M: Model>(
    _ type: M.Type, withIdentifier identifier: ModelIdentifier
  ) -> MartletAsyncThrowingSequence<MutationEvent> {
    .changes(of: self) { room in try room.mapping(type).observed(identifier) }
  }

  /// The result of a query now, and again after every commit that changes it.
  ///
  /// The first snapshot equals `query` with the same arguments. A consumer that is slower than the commits gets one
  /// snapshot for several of them.
  public func observeQuery<M: Model>(
    for type: M.Type, where predicate: QueryPredicate? = nil, sort: QuerySort? = nil, paginate page: QueryPage? = nil
  ) -> MartletAsyncThrowingSequence<DataStoreQuerySnapshot<M>> {
    .snapshots(of: self, type) { mapping throws(DataStoreError) in try mapping.query(predicate, sort, page) }
  }

  // MARK: Starting and stopping

  /// Lets streams continue after `stop()` or `clear()`, and starts the sync. Any query, save or delete does so, too;
  /// the first operation of a store starts the sync whatever it is.
  public func start() async throws(DataStoreError) {
    try open().resume()
    try await startSync()
  }

  /// Stops the sync, and keeps streams connected and silent, until `start()` or the next query, save or delete. Then
  /// each live query gives one snapshot, and observers get the changes that happened meanwhile.
  public func stop() async throws(DataStoreError) {
    try open().streams.pause()
    try await stopSync()
  }

  /// Deletes all records, and with them the writes that the server has refused. Streams stay connected and silent as
  /// after `stop()`; then live queries give what is there.
  ///
  /// - Parameter discardingPending: whether writes that the server does not have yet are deleted, too. Their handles
  ///   end with `cleared`, and an event names each.
  /// - Throws: `unsentWrites` when there are such writes and they are not to be discarded; nothing was changed.
  public func clear(discardingPending: Bool = false) async throws(DataStoreError) {
    try await open().clear(discardsPending: discardingPending)
  }
}
