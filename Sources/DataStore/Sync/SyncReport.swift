internal import MartletModels
internal import MartletStore
internal import MartletSyncEngine

/// What a store reports of its sync: events under the names of models, the status, and how far each write is. Used on
/// the store's thread.
final class SyncReport {
  typealias Mutation = DataStoreEvent.SyncedMutation

  /// Records that a model's sync has changed.
  private struct Counts {
    var added = 0
    var updated = 0
    var deleted = 0
  }

  private let mappings: [ModelMapping]
  private let errorHandler: @Sendable (DataStoreError) -> Void
  let news = SyncNews()
  var status = DataStoreSyncStatus()
  private var handles: [Int64: WriteHandle] = [:]
  /// The records of the writes that have handles.
  private(set) var places: [Int64: (model: Int, key: RecordKey)] = [:]
  /// The writes that have been sent, as they were then, and as the server answered.
  private var mutations: [Int64: Mutation] = [:]
  private var counts: [Int: Counts] = [:]
  /// The events since the status was published last.
  private var held: [DataStoreEvent] = []

  init(_ mappings: [ModelMapping], errorHandler: @escaping @Sendable (DataStoreError) -> Void) {
    self.mappings = mappings
    self.errorHandler = errorHandler
    for mapping in mappings { status.models[mapping.name] = .init() }
    news.publish(status)
  }

  deinit {
    for handle in handles.values { handle.end(.closed) }
    publish()
    news.finish()
  }

  // MARK: Writes

  /// The handle of a write of a record.
  func track(_ number: Int64, at place: (model: Int, key: RecordKey)?) -> WriteHandle {
    if let known = handles[number] { return known }
    let handle = WriteHandle(max(number, 0))
    if number == ClientWriter.Commit.unchanged {
      handle.move(to: .seen)
      return handle
    }
    guard number > 0, let place else {
      handle.end(.superseded)
      return handle
    }
    handles[number] = handle
    places[number] = place
    return handle
  }

  func finish(_ number: Int64, _ reason: WriteHandle.Ended.Reason) {
    places[number] = nil
    handles.removeValue(forKey: number)?.end(reason)
  }

  /// Ends a write of which nothing is left to send, after a later write or a change of the server. It publishes no
  /// event where the record is not known: the process that made the later write has published one.
  func supersede(_ number: Int64, at place: (model: Int, key: RecordKey)? = nil) {
    let place = places[number] ?? place
    finish(number, .superseded)
    let noted = mutations.removeValue(forKey: number)
    guard let mutation = noted ?? place.map({ mutation(number, at: $0) }) else { return }
    hold(.outboxMutationFailed(mutation, .superseded))
  }

  /// A write of which only the record is known.
  func mutation(_ number: Int64, at place: (model: Int, key: RecordKey)) -> Mutation {
    let mapping = mappings[place.model]
    return Mutation(
      write: number, modelName: mapping.name, modelId: mapping.text(place.key), json: nil, version: nil,
      isDeleted: false)
  }

  /// All writes that are on their way end.
  func endAll(_ reason: WriteHandle.Ended.Reason) { for number in handles.keys.sorted() { finish(number, reason) } }

  /// A write gets another number.
  func renumber(_ number: Int64, _ newNumber: Int64) {
    handles[newNumber] = handles.removeValue(forKey: number)
    handles[newNumber]?.renumber(newNumber)
    places[newNumber] = places.removeValue(forKey: number)
    mutations[number] = nil
  }

  func move(_ number: Int64, to stage: WriteHandle.Stage) {
    handles[number]?.move(to: stage)
    guard stage == .seen else { return }
    handles[number] = nil
    places[number] = nil
  }

  func move(_ number: Int64, _ progress: WriteProgress) {
    switch progress {
    case .sent: move(number, to: .sent)
    case .durable: move(number, to: .durable)
    case .seen: move(number, to: .seen)
    }
  }

  /// What the events about a write say of it.
  func note(_ mutation: Mutation) {
    if let number = mutation.write { mutations[number] = mutation }
  }

  // MARK: Records

  /// A page of a sync has changed a record.
  func count(model: Int, isAdded: Bool, isDeleted: Bool) {
    if isAdded { counts[model, default: Counts()].added += 1 }
    if isDeleted { counts[model, default: Counts()].deleted += 1 }
    if !isAdded, !isDeleted { counts[model, default: Counts()].updated += 1 }
  }

  /// The server has said how many records a model's pages have.
  func expect(model: Int, _ count: Int) { status.models[mappings[model].name]?.expected = count }

  func received(model: Int, _ count: Int) { status.models[mappings[model].name]?.received += count }

  func begin(model: Int) {
    status.models[mappings[model].name]?.expected = nil
    beginFullSync(model: model)
  }

  /// A page that says that it is the first of all records has said how many these are.
  func beginFullSync(model: Int) {
    status.models[mappings[model].name]?.received = 0
    counts[model] = nil
  }

  // MARK: Events

  /// Passes an event of the engine on under the names of models.
  func announce(_ event: SyncHubEvent) {
    switch event {
    case .networkStatus(let active):
      status.isConnected = active
      if active { status.lastError = nil }
      hold(.networkStatus(active: active))
    case .subscriptionsEstablished: hold(.subscriptionsEstablished)
    case .syncQueriesStarted(let models):
      for model in models { begin(model: model) }
      hold(.syncQueriesStarted(models: models.map { mappings[$0].name }))
    case .modelSynced(let model, let isFull, _, _):
      let counts = counts.removeValue(forKey: model) ?? Counts()
      hold(
        .modelSynced(
          modelName: mappings[model].name, isFullSync: isFull, isDeltaSync: !isFull, added: counts.added,
          updated: counts.updated, deleted: counts.deleted))
    case .modelTruncated(let model, let limit):
      let name = mappings[model].name
      errorHandler(
        DataStoreError(
          .truncated, "\(name) has more than \(limit) records at the server: the store keeps a part of them"))
      hold(.modelTruncated(modelName: name, limit: limit))
    case .syncQueriesReady: hold(.syncQueriesReady)
    case .syncStarted: hold(.syncStarted)
    case .ready: hold(.ready)
    case .syncReceived(let change): hold(.syncReceived(mutation(of: change)))
    case .outboxMutationEnqueued(let number): send(number) { .outboxMutationEnqueued($0) }
    case .outboxMutationProcessed(let number):
      send(number) { .outboxMutationProcessed($0) }
      mutations[number] = nil
    case .outboxMutationFailed(let number, let reason):
      // With a conflict the application's own handler has decided.
      if reason != .conflict { errorHandler(DataStoreError(.sync, describe(mutations[number], reason))) }
      send(number) { .outboxMutationFailed($0, .rejected(.init(reason))) }
      mutations[number] = nil
    case .outboxStatus(let isEmpty): hold(.outboxStatus(isEmpty: isEmpty))
    case .conditionalSaveFailed(let number): send(number) { .conditionalSaveFailed($0) }
    case .failed(let failure): fail(DataStoreError(failure))
    case .terminated(let failure): terminate(DataStoreError(failure))
    }
  }

  /// The sync has ended, or cannot begin.
  func terminate(_ error: DataStoreError) {
    status.lastError = error
    errorHandler(error)
    hold(.terminated(error))
  }

  private func describe(_ mutation: Mutation?, _ reason: DeadLetter.Reason) -> String {
    let record = mutation.map { "\($0.modelName) \($0.modelId)" } ?? "record"
    return "a write of the \(record) was refused: \(RejectedWrite.Reason(reason))"
  }

  private func send(_ number: Int64, _ event: (Mutation) -> DataStoreEvent) {
    let unknown = Mutation(write: number, modelName: "", modelId: "", json: nil, version: nil, isDeleted: false)
    hold(event(mutations[number] ?? unknown))
  }

  private func mutation(of change: RemoteChange) -> Mutation {
    let mapping = mappings[change.model]
    let json = change.changed == nil ? change.image.record.map { mapping.json($0).description } : nil
    return Mutation(
      write: nil, modelName: mapping.name, modelId: mapping.text(change.key), json: json,
      version: change.image.version, isDeleted: change.image.record == nil)
  }

  /// The store was cleared before the server had this write.
  func cleared(_ mutation: Mutation) {
    if let number = mutation.write { finish(number, .cleared) }
    hold(.outboxMutationFailed(mutation, .cleared))
  }

  /// A failure that the sync survives.
  func fail(_ error: DataStoreError) {
    status.lastError = error
    errorHandler(error)
    hold(.failed(error))
  }

  /// An event is sent with the status that came of it, so that an application that looks at the status then finds it.
  private func hold(_ event: DataStoreEvent) { held.append(event) }

  /// Publishes the status, and the events since it was published last.
  func publish() {
    news.publish(status, held)
    held = []
  }
}

extension DataStoreError {
  init(_ failure: SyncFailure) {
    switch failure {
    case .network: self.init(.sync, "the server cannot be reached")
    case .overloaded: self.init(.sync, "the server has no capacity now")
    case .faulted(let code, let message): self.init(.sync, "the server failed: \(code): \(message)")
    case .unauthorized: self.init(.sync, "the server does not accept the credentials")
    case .forbidden: self.init(.sync, "the server's rules do not allow it")
    case .conditionFailed: self.init(.sync, "a write's condition does not hold for the server's record")
    case .conflict: self.init(.sync, "the server has another version of the record")
    case .refused(let code, let message): self.init(.sync, "the server refused: \(code): \(message)")
    }
  }
}
