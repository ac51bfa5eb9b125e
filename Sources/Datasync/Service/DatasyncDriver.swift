internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient
internal import MartletTreeWire
internal import MartletVocabulary
internal import MartletWire

/// Runs the tree's client over one socket after another. Carries out what its machines decide: `ConnectionMachine` when
/// to connect, `TreeClient` what to send and to report. Confined to its loop.
final class DatasyncDriver {
  let configuration: DatasyncConfiguration
  private var endpoint: GraphQLEndpoint
  private let environment: ClientEnvironment
  let shared: ServiceShared
  private let attempts: ConnectionAttempts
  /// Names this client in numbered writes.
  private let name: String
  let storage: DatasyncStorage?
  /// The numbers of the writes that are in the file, by id.
  var numbers: [Int64: Int64] = [:]
  var notedNumber: Int64
  var dirty: Set<TreeClient.Query> = []
  var savingTimer: LoopTimer?
  var machine: TreeClient
  private var link: DatasyncLink?
  private var session: String?
  private var credential: String?
  private var isStopped = false

  var cores: [ListenerID: SubscriptionCore] = [:]
  var writes: [Int64: DatasyncWrite] = [:]
  /// Handles that take no room in the queue of writes.
  var quiet: Set<Int64> = []
  var reads: [Int64: Read] = [:]
  var updates: [Int64: @Sendable (DatasyncValue) -> JSONValue?] = [:]
  var presences: [Int64: Presence] = [:]

  private lazy var health = SocketHealth(self)

  struct Read {
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
    self.endpoint = endpoint
    self.environment = environment
    self.shared = shared
    storage = try configuration.cacheMode.file.map { file throws(DatasyncError) in try DatasyncStorage(file: file) }
    let fresh = String(environment.chance.next(), radix: 16) + "-" + String(environment.chance.next(), radix: 16)
    name = storage?.text("client") ?? fresh
    notedNumber = storage?.text("last").flatMap { Int64($0) } ?? 0
    // Whether a write of an earlier process has ended is not known to a process that has none left.
    machine = TreeClient(lastNumber: notedNumber, hasEndedWrite: storage?.text("ended") != nil)
    attempts = ConnectionAttempts(.connection, configuration.connection, environment)
    attempts.onDue = { [weak self] _, answer in self?.due(answer) }
    do { try storage?.set("client", name) } catch {
      throw DatasyncError(.storage, "the cache cannot be written: \(error)")
    }
  }

  func spawn(_ body: @escaping @Sendable () async -> Void) { environment.spawner.spawn(body) }

  // MARK: The application's wishes

  /// Something needs the connection.
  func need() {
    guard !isStopped, shared.isEnabled else { return }
    if case .failed = shared.state { return }
    attempts.need()
    if shared.state == .idle { shared.move(to: .connecting) }
  }

  func enable(_ isEnabled: Bool) {
    guard !isStopped else { return }
    if isEnabled {
      if attempts.phase == .paused { _ = attempts.resume(isNeeded: true) } else { attempts.need() }
      shared.move(to: .connecting)
    } else {
      _ = attempts.pauses()
      leave()
      shared.move(to: .disabled)
    }
  }

  func reconnect() {
    guard !isStopped, shared.isEnabled, attempts.phase != .open else { return }
    if attempts.release() { letGo() }
    attempts.need()
    shared.move(to: .connecting)
  }

  func shutDown() {
    guard !isStopped else { return }
    isStopped = true
    if case .automatic = configuration.cacheMode { saveValues() }
    _ = attempts.shutDown()
    leave()
    shared.move(to: .shutDown)
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

  // MARK: Connecting

  private func due(_ answer: Result<Credentials, any Error>) {
    switch answer {
    case .success(let credentials): open(credentials)
    case .failure: ended()
    }
  }

  private func open(_ credentials: Credentials) {
    guard let sockets = environment.sockets else { return fail("this program has no WebSockets") }
    show(credentials)
    var endpoint = endpoint
    endpoint.target = SocketTarget.text(endpoint.target, configuration, session: session, client: name)
    // The credential goes in a message of its own, where it can be replaced.
    let fields = credentials.headers.filter { $0.name.lowercased() != "authorization" }
    let request = MessageSocketRequest(
      endpoint: endpoint, subprotocols: [], headers: configuration.connection.headers + fields,
      openTimeout: configuration.connection.openTimeout, messageBytes: configuration.connection.messageBytes,
      compresses: configuration.connection.compresses)
    let link = DatasyncLink(self)
    self.link = link
    link.open(request, by: sockets, on: loop)
  }

  /// The token of `Authorization: Bearer …`.
  private func show(_ credentials: Credentials) {
    let field =
      credentials.headers.first { $0.name.lowercased() == "authorization" }?.value
      ?? credentials.payload["Authorization"]?.string
    guard let field else { return }
    let token = field.lowercased().hasPrefix("bearer ") ? String(field.dropFirst(7)) : field
    guard token != credential else { return }
    credential = token
    perform(machine.authenticate(token, isAdministrator: configuration.isAdministrator, now: now))
  }

  func opened() {
    guard attempts.opened(attempts.generation) == .use else { return }
    machine.opened(now: now)
    health.heard()
  }

  func failed(_ failure: MessageSocketFailure) {
    guard let status = failure.status else { return ended() }
    switch status {
    case 401, 403: ended(.credentialsRefused(code: status), because: failure.description)
    case 400..<500 where status != 408 && status != 429: ended(.final, because: failure.description)
    default: ended()
    }
  }

  func ended(_ failure: RetryMachine.Failure = .passing(), because reason: String = "the connection was lost") {
    letGo()
    attempts.closed(failure, isNeeded: true) { action in
      switch action {
      case .ask, .wait, .ignore: break
      case .rest: shared.move(to: .idle)
      case .fail: fail(reason)
      }
    }
    if shared.state == .connected { shared.move(to: .connecting) }
  }

  /// There are no more attempts.
  private func fail(_ reason: String) {
    shared.move(to: .failed(reason: reason))
    for (id, _) in reads { giveUp(id) }
    let revocation = DatasyncRevocation(.authentication, reason)
    for core in cores.values { core.end(.revocation(reason: revocation)) }
  }

  private func letGo() {
    health.stop()
    link?.letGo()
    link = nil
    machine.lost()
  }

  private func leave() {
    link?.socket?.close(.normal, reason: "")
    letGo()
  }

  // MARK: The socket

  func received(_ text: [UInt8]) {
    health.heard()
    perform(machine.receive(String(decoding: text, as: UTF8.self), now: now, milliseconds: milliseconds))
    health.armKeepAlive()
  }

  /// The socket, while there is one.
  var socket: (any MessageSocket)? { link?.socket }

  func receivedBinary() {
    link?.socket?.close(.policyViolation, reason: "a binary message")
    ended()
  }

  func perform(_ actions: [TreeClient.Action]) {
    noteNumber()
    for action in actions {
      switch action {
      case .send(let frames): for frame in frames { link?.socket?.send(text: Array(frame.utf8)) }
      case .connected(let session): greeted(session)
      case .event(let event): cores[event.listener]?.receive(event)
      case .ready(let id):
        attempts.progressed()
        cores[id]?.becameReady()
      case .gap(let id, let gap): cores[id]?.receive(gap)
      case .settled(let id, let settlement):
        if case .acknowledged = settlement { attempts.progressed() }
        settled(id, settlement)
      case .registered(let id): registered(id)
      case .read(let id, let reading):
        if case .server = reading { attempts.progressed() }
        answered(id, reading)
      case .compute(let id, let node): compute(id, node)
      case .changed(let query): valueChanged(query)
      case .forget(let query): forget(query)
      case .credential(nil): attempts.credentialsAccepted()
      case .credential(let reason?), .revoked(let reason): refused(reason)
      case .reset(let host): moved(to: host)
      case .shutDown(let reason):
        leave()
        _ = attempts.release()
        fail("the server said: \(reason)")
      case .close(let error):
        link?.socket?.close(.policyViolation, reason: error.code.rawValue)
        ended()
      }
    }
  }

  private func greeted(_ session: String) {
    self.session = session
    attempts.acknowledged()
    shared.setTimeOffset(.milliseconds(machine.timeOffset))
    shared.move(to: .connected)
  }

  /// The credential is not accepted, or no longer: another one is asked for once, on a new connection.
  private func refused(_ reason: String) {
    credential = nil
    link?.socket?.close(.normal, reason: "")
    ended(.credentialsRefused(code: 401), because: "the server refuses the credential: \(reason)")
  }

  private func moved(to host: String) {
    leave()
    if let other = try? GraphQLEndpoint("\(endpoint.isSecure ? "wss" : "ws")://\(host)\(endpoint.target)") {
      endpoint = other
    }
    attempts.closed(.passing(), isNeeded: true) { _ in }
  }
}
