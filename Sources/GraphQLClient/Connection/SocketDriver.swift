import MartletGraphQLClientWire
import MartletHTTPWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// One connection, over one socket after another. Carries out what its machines decide: `ConnectionMachine` when to
/// dial, the dialect's machine what to say. Confined to its loop.
final class SocketDriver {
  private let endpoint: GraphQLEndpoint
  private(set) var configuration: ConnectionConfiguration
  private let environment: ClientEnvironment
  let knowledge: ServerKnowledge
  let events: ConnectionEvents
  /// One that was opened because others were full; it goes when it is empty.
  private let isSpare: Bool
  weak var group: ConnectionGroup?

  let attempts: ConnectionAttempts
  var session: any SubscriptionClientMachine
  var operations = SocketOperationTable()
  private var link: SocketLink?
  private var sessionTimer: LoopTimer?
  private var idleTimer: LoopTimer?
  /// Renews credentials that end while the connection is open.
  private(set) lazy var renewal = CredentialRenewal(self)
  var hasConnected = false
  var loop: any Loop { environment.loop }

  init(_ home: ConnectionGroup.Home, _ configuration: ConnectionConfiguration, isSpare: Bool) {
    endpoint = home.endpoint
    self.configuration = configuration
    environment = home.environment
    knowledge = home.knowledge
    events = home.events
    self.isSpare = isSpare
    session = ClientMachines.machine(configuration)
    attempts = ConnectionAttempts(.connection, configuration, home.environment)
    attempts.onDue = { [weak self] generation, answer in self?.due(generation, answer) }
  }

  // MARK: Operations

  func start(_ operation: SocketOperation) {
    if operation.stream == nil, !session.dialect.carriesQueries {
      let text = "\(session.dialect.name) carries subscriptions only; use HTTP"
      return operation.finish(.error(GraphQLClientError(.invalidRequest, text)))
    }
    guard let id = operations.add(operation) else { return }
    armDeadline(of: id)
    idleTimer?.cancel()
    act {
      session.start(
        id, operation.request, repetition: operation.repetition, position: operation.position, at: loop.now,
        actions: &$0)
    }
    attempts.need()
    if attempts.phase == .paused { operation.stream?.move(to: .paused) }
  }

  func cancel(_ key: ObjectIdentifier) {
    guard let id = operations.id(of: key) else { return }
    act { session.cancel(id, actions: &$0) }
    forget(id)
    if operations.isEmpty, attempts.phase == .waiting { release() }
  }

  func forget(_ id: OperationID) {
    guard let operation = operations.remove(id) else { return }
    hasRoom(operation.key)
    armIdleTimer()
  }

  func hasRoom(_ key: ObjectIdentifier) {
    guard operations.release(key) else { return }
    socket?.isReading = true
    armSessionTimer(notBefore: loop.now + configuration.pongTimeout)
  }

  func stopReading() {
    socket?.isReading = false
    sessionTimer?.cancel()
  }

  private func armDeadline(of id: OperationID) {
    guard case .response(_, let kind) = operations[id]?.consumer else { return }
    let time = configuration.requestTimeout
    let deadline = operations[id]?.deadline ?? loop.now + time
    operations[id]?.deadline = deadline
    operations[id]?.timer = loop.schedule(at: deadline) { [weak self] in
      guard let self, let operation = operations[id] else { return }
      act { session.cancel(id, actions: &$0) }
      finish(id, .error(kind.timedOut(after: time, wasSent: operation.wasSent)))
    }
  }

  // MARK: Dialling

  private func due(_ generation: Int, _ answer: Result<Credentials, any Error>) {
    switch answer {
    case .success(let credentials): open(credentials)
    case .failure(let error): ended(.noCredentials(error))
    }
  }

  private func open(_ credentials: Credentials) {
    do throws(GraphQLClientError) {
      var checked = HTTPHeaders()
      try checked.append(checking: configuration.headers + credentials.headers)
    } catch {
      return ended(.failed(error.message))
    }
    let opening: SocketOpening
    let sockets: any MessageSocketConnector
    do throws(GraphQLClientError) {
      sockets = try environment.webSockets()
      opening = try SocketOpening(
        endpoint, configuration, credentials, calendar: environment.calendar(), at: loop.now)
    } catch {
      failAll(error)
      return release()
    }
    renewal.follow(credentials)
    let link = SocketLink(opening, self)
    self.link = link
    link.open(opening.request(configuration), by: sockets, on: loop)
  }

  func failed(_ failure: MessageSocketFailure) {
    guard let status = failure.status else { return ended(.failed(failure.message)) }
    let pause = failure.retryAfter.flatMap { RetryAfter.pause($0, now: environment.calendar()) }
    ended(.answered(status, by: (link?.opening.endpoint ?? endpoint).displaySocketURL, retryAfter: pause))
  }

  func opened(subprotocol: String?) {
    guard let link else { return }
    guard subprotocol == session.dialect.subprotocol else {
      socket?.abort()
      return ended(.closed(4406, "the server chose the subprotocol \(subprotocol ?? "none")"))
    }
    guard attempts.opened(attempts.generation) == .use else { return }
    renewVariables()
    session.sign(with: link.opening.signer)
    act { session.opened(payload: link.opening.payload, at: loop.now, actions: &$0) }
  }

  /// Subscriptions whose application keeps positions of its own begin again after them.
  private func renewVariables() {
    for id in operations.inOrder {
      guard var operation = operations[id], operation.renew() else { continue }
      operation.position = session.position(of: id) ?? operation.position
      operations[id] = operation
      var actions: [SubscriptionClientAction] = []
      session.cancel(id, actions: &actions)
      session.start(
        id, operation.request, repetition: operation.repetition, position: operation.position, at: loop.now,
        actions: &actions)
      follow(actions)
    }
  }

  // MARK: The socket

  var socket: (any MessageSocket)? { link?.socket }

  func received(_ text: [UInt8]) {
    act { session.receive(text, at: loop.now, actions: &$0) }
  }

  func receivedBinary() {
    follow([.close(.badResponse("a binary message"))])
  }

  func act(_ body: (inout [SubscriptionClientAction]) -> Void) {
    var actions: [SubscriptionClientAction] = []
    body(&actions)
    follow(actions)
    if attempts.phase == .open { armSessionTimer() }
  }

  /// The attempt or the socket is over; what follows is the machine's decision.
  func ended(_ ending: SocketEnding) {
    letGo()
    events.tell(ending.event)
    let dialect = session.dialect
    attempts.closed(ending.failure(in: dialect), isNeeded: !operations.isEmpty) { action in
      switch action {
      case .ask, .wait: operations.reconnect(because: ending.reason, attempt: attempts.failures)
      case .fail(let why):
        failAll(ending.error(why, in: dialect))
        rested()
      case .rest: rested()
      case .ignore: break
      }
    }
  }

  /// Lets go of the socket or the attempt, and of what belongs to it.
  private func letGo() {
    sessionTimer?.cancel()
    renewal.stop()
    link?.letGo()
    link = nil
    operations.releaseAll()
    // Not `act`: what follows must not arm timers of the socket that is gone.
    var actions: [SubscriptionClientAction] = []
    session.disconnected(actions: &actions)
    follow(actions)
    idleTimer?.cancel()
  }

  /// Closes the socket, if there is one, by this side's own wish.
  private func leave(_ code: WebSocketCloseCode, _ reason: String) {
    if let socket {
      var farewell: [SubscriptionClientAction] = []
      session.leaving(actions: &farewell)
      follow(farewell)
      socket.close(code, reason: reason)
      events.tell(.disconnected(code: Int(code.rawValue), reason: reason))
    }
    letGo()
  }

  /// Replaces the socket: subscriptions resume on the next one, and what is on its way here is not sent again.
  func replace(refused code: Int? = nil, because reason: String) {
    attempts.replace(refused: code) {
      leave(.normal, "")
      operations.reconnect(because: reason, attempt: attempts.failures)
    }
  }

  /// No operation needs the connection.
  private func release() {
    if attempts.release() { leave(.normal, "") }
    rested()
  }

  private func rested() {
    if isSpare, operations.isEmpty { group?.released(self) }
  }

  func failAll(_ error: GraphQLClientError) {
    for id in operations.inOrder {
      var ignored: [SubscriptionClientAction] = []
      session.cancel(id, actions: &ignored)
      finish(id, .error(error))
    }
  }

  // MARK: The application's wishes

  func pause() {
    guard attempts.pauses() else { return }
    leave(.goingAway, "paused")
    operations.pause()
  }

  func resume() {
    switch attempts.resume(isNeeded: !operations.isEmpty) {
    case .rest: rested()
    case .ask, .none: break
    }
  }

  /// Changes what the next sockets open with. `reconnecting` replaces an open socket now.
  func update(reconnecting: Bool, _ change: (inout ConnectionConfiguration) -> Void) {
    change(&configuration)
    if reconnecting, attempts.phase == .open {
      replace(because: "the client changed what it connects with")
    } else {
      renewal.changed()
    }
  }

  func shutDown() {
    guard attempts.shutDown() else { return }
    leave(.normal, "")
    for id in operations.inOrder { if let end = operations[id]?.endAtShutDown { finish(id, end) } }
  }

  // MARK: Time

  private func armSessionTimer(notBefore: Instant? = nil) {
    sessionTimer?.cancel()
    guard !operations.isHeld, var deadline = session.nextDeadline else { return }
    if let notBefore { deadline = max(deadline, notBefore) }
    sessionTimer = loop.schedule(at: deadline) { [weak self] in
      guard let self, attempts.phase == .open else { return }
      act { session.reachedDeadline(at: loop.now, actions: &$0) }
    }
  }

  func armIdleTimer() {
    let timeout = configuration.idleTimeout ?? (isSpare ? ConnectionConfiguration.spareTimeout : nil)
    guard let timeout, operations.isEmpty, attempts.phase == .open else { return }
    idleTimer?.cancel()
    idleTimer = loop.schedule(at: loop.now + timeout) { [weak self] in
      guard let self, attempts.phase == .open, operations.isEmpty else { return }
      release()
    }
  }
}
