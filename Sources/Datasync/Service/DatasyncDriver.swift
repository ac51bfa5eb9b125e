internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient
internal import MartletTreeWire
internal import MartletVocabulary
internal import MartletWire

/// Runs the tree's client over one connection after another: carries out what `TreeClient` decides to send and to
/// report. Confined to its loop.
final class DatasyncDriver {
  let configuration: DatasyncConfiguration
  private let environment: ClientEnvironment
  let shared: ServiceShared
  let connection: DatasyncConnection
  private let storage: DatasyncStorage?
  private(set) lazy var values = CachedValues(storage, configuration, self, known)
  /// What the application begins with.
  private let known: CacheText?
  /// The numbers of the writes that are in the file, by id.
  var numbers: [Int64: Int64] = [:]
  var notedNumber: Int64
  var machine: TreeClient

  var cores: [ListenerID: TreeSubscriptionCore] = [:]
  var writes: [Int64: DatasyncWrite] = [:]
  /// Handles that take no room in the queue of writes.
  var quiet: Set<Int64> = []
  var reads: [Int64: Read] = [:]
  var updates: [Int64: @Sendable (DatasyncValue) -> JSONValue?] = [:]
  var presences: [Int64: Presence] = [:]

  private lazy var health = SocketHealth(self)

  struct Read {
    var query: TreeClient.Query
    var timer: LoopTimer?
    var done: @Sendable (Result<DatasyncReading, DatasyncError>) -> Void
  }

  struct Presence {
    var json: JSONValue
    var path: TreePath
    var token: PresenceToken
  }

  var loop: any Loop { environment.loop }
  var now: Instant { loop.now }
  var milliseconds: Int64 { environment.calendar() }

  init(
    _ configuration: DatasyncConfiguration, _ endpoint: GraphQLEndpoint, _ environment: ClientEnvironment,
    _ shared: ServiceShared
  ) throws(DatasyncError) {
    self.configuration = configuration
    self.environment = environment
    self.shared = shared
    known =
      if case .initialized(let text) = configuration.cacheMode { try CacheText(text) } else { nil }
    storage = try configuration.cacheMode.file.map { file throws(DatasyncError) in
      try DatasyncStorage(file: file, bytes: configuration.cacheBytes)
    }
    let fresh = String(environment.chance.next(), radix: 16) + "-" + String(environment.chance.next(), radix: 16)
    let name = storage?.text("client") ?? fresh
    notedNumber = storage?.text("last").flatMap { Int64($0) } ?? 0
    // Whether a write of an earlier process has ended is not known to a process that has none left.
    machine = TreeClient(lastNumber: notedNumber, hasEndedWrite: storage?.text("ended") != nil)
    connection = DatasyncConnection(configuration, endpoint, environment, shared, client: name)
    connection.onEvent = { [weak self] event in self?.follow(event) }
    do { try storage?.set("client", name) } catch {
      throw DatasyncError(.storage, "the cache cannot be written: \(error)")
    }
  }

  func spawn(_ body: @escaping @Sendable () async -> Void) { environment.spawner.spawn(body) }

  /// Something needs the connection.
  func need() { connection.need() }

  func shutDown() {
    guard !connection.isStopped else { return }
    if configuration.cacheMode.isAutomatic {
      values.save()
      values.disconnected()
    }
    connection.shutDown()
    let error = DatasyncError(.shutDown, "the service was shut down")
    for write in writes.values { write.end(.failure(error)) }
    for read in reads.values {
      read.timer?.cancel()
      read.done(.failure(error))
    }
    (writes, reads, updates, presences) = ([:], [:], [:], [:])
    for core in cores.values { core.end(.cancellation) }
    cores = [:]
  }

  // MARK: The connection

  private func follow(_ event: DatasyncConnection.Event) {
    switch event {
    case .credential(let token):
      perform(machine.authenticate(token, isAdministrator: configuration.isAdministrator, now: now))
    case .opened:
      machine.opened(now: now)
      health.heard()
    case .received(let text):
      health.heard()
      perform(machine.receive(String(decoding: text, as: UTF8.self), now: now, milliseconds: milliseconds))
      health.armKeepAlive()
    case .lost:
      health.stop()
      values.disconnected()
      machine.lost()
    case .failed(let reason, let isRefused):
      let revocation = DatasyncRevocation(.authentication, reason)
      for core in cores.values { core.end(.revocation(reason: revocation)) }
      if isRefused { values.refused(reason) }
      for (id, _) in reads { giveUp(id) }
    }
  }

  func perform(_ actions: [TreeClient.Action]) {
    noteNumber()
    for action in actions {
      switch action {
      case .send(let frames): connection.send(frames)
      case .connected(let session):
        connection.greeted(session)
        shared.setTimeOffset(.milliseconds(machine.timeOffset))
        shared.move(to: .connected)
      case .event(let event):
        if event.kind == .cancelled { values.cancelled(event.listener) }
        cores[event.listener]?.receive(event)
      case .ready(let id):
        connection.progressed()
        cores[id]?.becameReady()
      case .gap(let id, let gap): cores[id]?.receive(gap)
      case .settled(let id, let settlement):
        if case .acknowledged = settlement { connection.progressed() }
        settled(id, settlement)
      case .registered(let id): registered(id)
      case .read(let id, let reading):
        if case .server = reading { connection.progressed() }
        answered(id, reading)
      case .compute(let id, let node): compute(id, node)
      case .changed(let query): values.changed(query)
      case .forget(let query, let last): values.ended(query, last)
      case .credential(nil): connection.credentialAccepted()
      case .credential(let reason?), .revoked(let reason): connection.credentialRefused(reason)
      case .reset(let host): connection.move(to: host)
      case .shutDown(let reason): connection.giveUp("the server said: \(reason)")
      case .close(let error): connection.violated(error.code.rawValue)
      }
    }
  }
}
