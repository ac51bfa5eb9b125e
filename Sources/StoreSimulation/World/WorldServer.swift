internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletSQLite
internal import MartletServer
internal import MartletSimulation
internal import MartletStore
internal import MartletVocabulary

/// The server: the real store on an imaginary disk, and the code behind the fields of a sync. Its sessions are in
/// `WorldSession`.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump, or before it runs.
final class WorldServer: @unchecked Sendable {
  /// What a process has.
  private final class Running {
    let store: Store
    let calendar: Calendar
    var service: SyncService
    var isReloading = false

    init(_ store: Store, _ service: SyncService, _ calendar: Calendar) {
      self.store = store
      self.service = service
      self.calendar = calendar
    }
  }

  private unowned let world: World
  private var disk = WorldDisk()
  private var running: Running?
  private var starts: UInt64 = 0
  private(set) var schema: WorldSchema
  /// The schema in force, which a reload changes when the store has been migrated.
  private var served: WorldSchema
  /// Milliseconds that the calendar clock is wrong by.
  var skew: Int64 = 0
  /// Tokens older than this are refused.
  var oldestToken = 0
  /// Requests are refused for load until then.
  var overloadedUntil = Instant.zero
  private(set) var sessions: [WorldSession] = []
  /// What waits until it is known that the process has outlived the work that led to it.
  private var outgoing: [() -> Void] = []
  /// What was committed, in order, over all processes, as far as it was not lost with the disk.
  private(set) var log: [Change] = []
  private(set) var accountTotal: Int64 = 0
  /// Everything up to this offset was durable when the process last sent something.
  private var durable: Int64 = 0

  init(_ world: World, _ schema: WorldSchema) {
    self.world = world
    self.schema = schema
    served = schema
  }

  var isRunning: Bool { running != nil }
  var head: Int64 { running?.store.position.head ?? 0 }
  var milliseconds: Int64 { 1_700_000_000_000 + world.executor.now.nanoseconds / 1_000_000 + skew }

  // MARK: Starting and ending

  func start() throws {
    starts += 1
    let world = self.world
    let now: @Sendable () -> Instant = { world.executor.now }
    let milliseconds: @Sendable () -> Int64 = { world.server.milliseconds }
    var options = StoreOptions(
      term: 0x1000 + starts, clock: StoreClock(now: now, milliseconds: milliseconds), writer: ServerLane(),
      readers: [ServerLane()])
    options.limits = limits
    let served = try world.served(schema)
    self.served = schema
    let store = try Store(.memory(disk.files), schema: served.models, options: options)
    let calendar = Calendar(milliseconds: milliseconds, generator: SeededRandom(seed: starts))
    let service = SyncService(served, store, calendar: calendar)
    store.register(DirectDestination { [weak self] batch in self?.committed(batch) })
    running = Running(store, service, calendar)
    world.record("server starts as \(starts), head \(store.position.head)")
    takeLog(store)
    settle()
  }

  private var limits: StoreLimits {
    var limits = StoreLimits()
    limits.cacheKiB = 512
    // Checkpoints happen within a story.
    limits.checkpointPages = 40
    limits.unacknowledgedWrites = 100
    return limits
  }

  /// The records that are there from the beginning.
  func seed(accounts: Int) {
    guard let running, let bank else { return }
    accountTotal = Int64(accounts * 100)
    bank.open(accounts, at: running.calendar.dateTime())
    settle()
  }

  /// Moves an amount from one account to another, in one transaction.
  func transfer(_ amount: Int64, from: Int, to: Int) {
    bank?.transfer(amount, from: from, to: to)
    settle()
  }

  private var bank: WorldBank? {
    guard let running, let model = running.service.served.models.models.first(where: { $0.name == "Account" }) else {
      return nil
    }
    return WorldBank(store: running.store, model: model)
  }

  /// The process ends at one of its next accesses to the disk.
  func arm(_ accesses: Int, losesPower: Bool) {
    disk.arm(accesses)
    armedPower = losesPower
  }

  func disarm() { disk.disarm() }

  private var armedPower = false

  private func die(losesPower: Bool) {
    world.count("server crash at \(disk.crashPoint)\(losesPower ? ", power lost" : "")")
    let left = disk.remains(&world.diskChance, losesPower: losesPower)
    end("killed\(losesPower ? " without power" : "")")
    disk = WorldDisk(left)
  }

  /// Ends in order.
  func stop() {
    guard let running else { return }
    running.store.close()
    settle()
    guard self.running != nil else { return }
    end("stopped")
    disk = WorldDisk(disk.files.contents)
  }

  private func end(_ how: String) {
    world.record("server \(how), head \(head)")
    running = nil
    outgoing = []
    let ended = sessions
    sessions = []
    for session in ended { session.lose() }
  }

  /// Lets out what the work has led to, unless the process has ended in it.
  func settle() {
    if disk.isFatal, running != nil { return die(losesPower: armedPower) }
    durable = head
    let waiting = outgoing
    outgoing = []
    for send in waiting { send() }
  }

  /// Sends something when the present work is over.
  func sendLater(_ send: @escaping () -> Void) { outgoing.append(send) }

  // MARK: Changes

  private func committed(_ batch: ChangeBatch) {
    log += batch.changes
    for change in batch.changes {
      guard let record = change.record else { continue }
      world.record("commit \(change.offset) \(record.kind) \(record.key.text) v\(record.version)")
    }
    for session in sessions { session.push(batch) }
  }

  /// The changes after an offset; nil when they are not kept.
  func changes(after offset: Int64) -> [Change]? {
    guard let running else { return nil }
    let found = Found<LogRange>()
    let read = ReadRequest { snapshot throws(StoreError) in
      try snapshot.log(after: offset, changes: 100_000, bytes: 1 << 30)
    } completion: {
      found.value = try? $0.get()
    }
    running.store.read([read], to: DirectDestination())
    guard case .changes(let changes, _, _, _)? = found.value else { return nil }
    return changes
  }

  /// What is in the log of a store that was opened again. What was durable must be there; the rest may be lost.
  private func takeLog(_ store: Store) {
    let first = store.position.firstRetained
    guard let stored = changes(after: first - 1) else {
      return world.checks.fail(.durability, "the log cannot be read from \(first)")
    }
    let kept = log.filter { $0.offset >= first && $0.offset <= durable }
    let found = stored.prefix { $0.offset <= durable }
    let isSame = kept.elementsEqual(found) { before, after in
      before.offset == after.offset && before.record?.key == after.record?.key
        && before.record?.version == after.record?.version
    }
    if !isSame { world.checks.fail(.durability, "\(kept.count) changes were durable, \(found.count) are there") }
    log = log.filter { $0.offset < first } + stored
  }

  /// The last change of a note.
  struct LastChange {
    var offset: Int64
    /// Nil for one that is deleted.
    var title: String?
    var owner: String?
  }

  /// The last change of each note, by its id.
  var lastChanges: [(id: String, change: LastChange)] {
    guard let model = running?.service.served.models.models.first(where: { $0.name == "Note" }),
      let title = model.position(of: "title"), let owner = model.position(of: "owner")
    else { return [] }
    var found: [String: LastChange] = [:]
    for change in log {
      guard let record = change.record, record.model == model.number else { continue }
      found[record.key.text] = LastChange(
        offset: change.offset, title: record.after?[title].string, owner: record.image[owner].string)
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  // MARK: Care

  /// Deletes what is beyond retention.
  func maintain() {
    running?.store.maintain()
    settle()
  }

  /// Forgets the log up to now: the store is opened with a retention of nothing, and again.
  ///
  /// - Parameter forgetsDeletions: whether deletions are forgotten, too, and with them which writes were applied.
  func forgetHistory(forgetsDeletions: Bool) throws {
    guard running != nil else { return }
    stop()
    let world = self.world
    var options = StoreOptions(
      term: 0x8000 + starts,
      clock: StoreClock(now: { world.executor.now }, milliseconds: { world.server.milliseconds }),
      writer: ServerLane(), readers: [ServerLane()])
    options.limits = limits
    options.limits.logAge = .zero
    options.limits.logBytes = 0
    if forgetsDeletions {
      options.limits.tombstoneAge = .zero
    }
    let store = try Store(.memory(disk.files), schema: try world.served(schema).models, options: options)
    for _ in 0..<4 { store.maintain() }
    if forgetsDeletions { world.checks.deletionsForgotten(upTo: store.position.firstRetained - 1) }
    world.record("server forgets its log up to \(store.position.firstRetained - 1)")
    store.close()
    disk = WorldDisk(disk.files.contents)
    try start()
  }

  /// A copy of what is stored now; nil while no process runs.
  var copy: WorldCopy? {
    guard running != nil else { return nil }
    return WorldCopy(files: disk.files.contents, head: head, log: log, applied: world.checks.applied)
  }

  /// Puts a copy in place of what is stored. No process runs meanwhile.
  func restore(_ copy: WorldCopy) {
    world.record("server gets a copy with head \(copy.head), of \(log.last?.offset ?? 0)")
    if log.last?.offset == copy.log.last?.offset { return }
    world.count("changes undone by a copy")
    disk = WorldDisk(copy.files)
    log = copy.log
    durable = copy.head
    world.checks.serverRestored(copy.applied)
  }

  // MARK: Rules and schema

  /// Puts another schema in force while the server runs, one after the other: what is asked for during a reload is put
  /// in force after it.
  func reload(_ change: (inout WorldSchema) -> Void) {
    change(&schema)
    guard let running, !running.isReloading else { return }
    running.isReloading = true
    world.executor.spawner.spawn { [world] in await world.server.reload() }
  }

  private func reload() async {
    guard let process = running else { return }
    defer { process.isReloading = false }
    while process === running, schema != served {
      let wanted = schema
      do {
        let next = try world.served(wanted, keeping: process.service.served.models.models)
        try await process.store.migrate(to: RecordShape.shapes(of: next.models), schema: "\(next.models.version)")
        serve(SyncService(next, process.store, calendar: process.calendar), wanted, on: process)
      } catch {
        // A server that ends meanwhile reads the schema when it starts again.
        if process === running { return world.checks.fail(.failure, "a reload of the schema failed: \(error)") }
      }
    }
  }

  private func serve(_ service: SyncService, _ schema: WorldSchema, on process: Running) {
    guard running === process else { return }
    process.service = service
    world.record("server serves \(schema)")
    let changesViews = (schema.rules == .own) != (served.rules == .own)
    served = schema
    if changesViews { world.checks.views += 1 }
    for session in sessions { session.recheck(service, changesViews: changesViews) }
    settle()
  }

  // MARK: Requests

  /// Answers a request; never when the process ends before it has.
  func handle(_ request: OperationRequest, as caller: String, token: Int, _ reply: @escaping (JSONValue) -> Void) {
    guard let running else { return }
    if token < oldestToken {
      world.count("token refused")
      return reply(Self.error("UNAUTHENTICATED", "the token has expired"))
    }
    if world.executor.now < overloadedUntil {
      world.count("overloaded")
      return reply(["errors": [["message": "too much", "extensions": ["code": "OVERLOADED", "retryAfterMs": 300]]]])
    }
    let field = Self.rootField(request.document)
    let identity = Identity(provider: .function, subject: caller)
    let before = head
    let kind = request.kind == .mutation ? "Mutation" : "Query"
    if let refusal = Self.unknownField(request, field, running.service) { return reply(refusal) }
    let answer = Found<JSONValue>()
    running.service.answer(
      kind, field, request.variables, extensions: request.extensions, for: identity, to: DirectDestination()
    ) { answer.value = $0 }
    sendLater { [world] in
      guard let value = answer.value else {
        return world.checks.fail(.failure, "the server does not answer \(field)")
      }
      if kind == "Mutation" { world.checks.served(request, caller, value, head: before) }
      reply(value)
    }
    settle()
    // What the feed brings while a sync reads its pages waits for it.
    if kind == "Query", !world.isSettling, world.network.happens(25) { transfer(1, from: 0, to: 1) }
  }

  /// Opens a session for a subscription.
  func open(_ link: WorldLink, as caller: String, token: Int, after cursor: Cursor?, view: String?) {
    guard let running else { return }
    if token < oldestToken {
      world.count("token refused")
      return link.refused(Self.error("UNAUTHENTICATED", "the token has expired")["errors"]?[0] ?? .null)
    }
    let session = WorldSession(world, link, as: Identity(provider: .function, subject: caller))
    switch session.begin(running.service, running.store, after: cursor, view: view) {
    case .success: sessions.append(session)
    case .failure(let refusal): link.refused(refusal.error)
    }
    settle()
  }

  func close(_ session: WorldSession) { sessions.removeAll { $0 === session } }

  func serves(_ session: WorldSession) -> Bool { sessions.contains { $0 === session } }

  /// A client's connection is gone.
  func drop(_ link: WorldLink) { sessions.removeAll { $0.link === link } }

  // MARK: What is stored

  /// The records of a model as the store has them, by key.
  func records(of model: String) -> [(key: String, record: JSONObject, version: Int64)] {
    guard let running, let definition = running.service.served.models.models.first(where: { $0.name == model }) else {
      return []
    }
    let found = Found<ListPage>()
    let request = ReadRequest(list: ListQuery(model: definition.number, limit: 1_000)) { found.value = try? $0.get() }
    running.store.read([request], to: DirectDestination())
    return (found.value?.records ?? []).map { stored in
      let members = definition.fields.enumerated().map { (key: $1.name, value: stored.record[$0]) }
      let key = definition.key(of: stored.record).values.first?.string ?? ""
      return (key, JSONObject(members), stored.version)
    }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}
