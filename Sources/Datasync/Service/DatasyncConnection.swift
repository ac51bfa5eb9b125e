internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWire

/// One connection to the server after another: asks for credentials, opens a socket, and waits before the next attempt.
/// `ConnectionAttempts` decides when. Confined to its loop.
final class DatasyncConnection {
  /// What happens to a connection.
  enum Event {
    /// The credential to show, on this connection and on later ones.
    case credential(String)
    /// A socket is open.
    case opened
    /// A text frame has arrived.
    case received([UInt8])
    /// The connection has ended, or the attempt at one has failed.
    case lost
    /// There are no more attempts; because the server refuses the credential, or for another reason.
    case failed(reason: String, isRefused: Bool)
  }

  /// Called on the loop with each event.
  var onEvent: (Event) -> Void = { _ in }
  /// Whether `shutDown` was called.
  private(set) var isStopped = false
  private let configuration: DatasyncConfiguration
  private var endpoint: GraphQLEndpoint
  private let environment: ClientEnvironment
  private let shared: ServiceShared
  private let attempts: ConnectionAttempts
  private let renewal: StreamRenewal
  /// Names this client in numbered writes.
  private let client: String
  private var link: DatasyncLink?
  /// The server's name for the last connection, with which the next one continues it.
  private var session: String?
  private var credential: String?

  init(
    _ configuration: DatasyncConfiguration, _ endpoint: GraphQLEndpoint, _ environment: ClientEnvironment,
    _ shared: ServiceShared, client: String
  ) {
    self.configuration = configuration
    self.endpoint = endpoint
    self.environment = environment
    self.shared = shared
    self.client = client
    attempts = ConnectionAttempts(.connection, configuration.connection, environment)
    renewal = StreamRenewal(attempts, configuration.connection, on: environment.loop)
    // The protocol takes another credential on the open connection.
    renewal.isReplaceable = { true }
    renewal.onRenewed = { [weak self] credentials in
      self?.show(credentials)
      self?.renewal.follow(credentials)
    }
    attempts.onDue = { [weak self] _, answer in self?.due(answer) }
  }

  /// The socket, while there is one.
  var socket: (any MessageSocket)? { link?.socket }

  // MARK: What the application wants

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
    isStopped = true
    _ = attempts.shutDown()
    leave()
    shared.move(to: .shutDown)
  }

  // MARK: What the protocol says

  func send(_ frames: [String]) {
    for frame in frames { socket?.send(text: Array(frame.utf8)) }
  }

  /// The server's greeting has arrived.
  func greeted(_ session: String) {
    self.session = session
    attempts.acknowledged()
  }

  /// The connection serves its purpose: the next pause is a short one.
  func progressed() { attempts.progressed() }

  func credentialAccepted() { attempts.credentialsAccepted() }

  /// The credential is not accepted, or no longer: another one is asked for once, on a new connection.
  func credentialRefused(_ reason: String) {
    credential = nil
    socket?.close(.normal, reason: "")
    ended(.credentialsRefused(code: 401), because: "the server refuses the credential: \(reason)")
  }

  /// The server asks for connections to another host.
  func move(to host: String) {
    leave()
    if let other = try? GraphQLEndpoint("\(endpoint.isSecure ? "wss" : "ws")://\(host)\(endpoint.target)") {
      endpoint = other
    }
    attempts.closed(.passing(), isNeeded: true) { _ in }
  }

  /// Closes the connection and makes no other.
  func giveUp(_ reason: String) {
    leave()
    _ = attempts.release()
    fail(reason)
  }

  /// The server has violated the protocol.
  func violated(_ reason: String) {
    socket?.close(.policyViolation, reason: reason)
    ended()
  }

  // MARK: Attempts

  private func due(_ answer: Result<Credentials, any Error>) {
    switch answer {
    case .success(let credentials): open(credentials)
    case .failure: ended()
    }
  }

  private func open(_ credentials: Credentials) {
    guard let sockets = environment.sockets else { return fail("this program has no WebSockets") }
    show(credentials)
    renewal.follow(credentials)
    var endpoint = endpoint
    endpoint.target = SocketTarget.text(endpoint.target, configuration, session: session, client: client)
    // The credential goes in a message of its own, where it can be replaced.
    let fields = credentials.headers.filter { $0.name.lowercased() != "authorization" }
    let request = MessageSocketRequest(
      endpoint: endpoint, subprotocols: [], headers: configuration.connection.headers + fields,
      openTimeout: configuration.connection.openTimeout, messageBytes: configuration.connection.messageBytes,
      compresses: configuration.connection.compresses)
    let link = DatasyncLink(self)
    self.link = link
    link.open(request, by: sockets, on: environment.loop)
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
    onEvent(.credential(token))
  }

  // MARK: The link

  func opened() {
    guard attempts.opened(attempts.generation) == .use else { return }
    onEvent(.opened)
  }

  func failed(_ failure: MessageSocketFailure) {
    guard let status = failure.status else { return ended() }
    let reason = "\(endpoint.displaySocketURL) answered the WebSocket upgrade with HTTP status \(status)"
    switch HTTPStatusMeaning(status) {
    case .credentialsRefused: ended(.credentialsRefused(code: status), because: reason)
    case .passing:
      let pause = failure.retryAfter.flatMap { RetryAfter.pause($0, now: environment.calendar()) }
      ended(.passing(retryAfter: pause), because: reason)
    case .final: ended(.final, because: reason)
    }
  }

  func received(_ text: [UInt8]) { onEvent(.received(text)) }

  func receivedBinary() { violated("a binary message") }

  func ended(_ failure: RetryMachine.Failure = .passing(), because reason: String = "the connection was lost") {
    letGo()
    attempts.closed(failure, isNeeded: true) { action in
      switch action {
      case .ask, .wait, .ignore: break
      case .rest: shared.move(to: .idle)
      case .fail:
        if case .credentialsRefused = failure { fail(reason, isRefused: true) } else { fail(reason) }
      }
    }
    if shared.state == .connected { shared.move(to: .connecting) }
  }

  private func fail(_ reason: String, isRefused: Bool = false) {
    shared.move(to: .failed(reason: reason))
    onEvent(.failed(reason: reason, isRefused: isRefused))
  }

  private func letGo() {
    renewal.stop()
    link?.letGo()
    link = nil
    onEvent(.lost)
  }

  private func leave() {
    socket?.close(.normal, reason: "")
    letGo()
  }
}
