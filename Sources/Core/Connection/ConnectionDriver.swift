import MartletJSON
import MartletRuntime
import MartletVocabulary
import MartletWireProtocols

/// One connection, over one socket after another. Carries out what the machines decide: dials, sends, waits. Confined to
/// its loop.
final class ConnectionDriver {
  private enum Phase { case idle, asking, opening, open, waiting, paused, shutDown }

  private let endpoint: GraphQLEndpoint
  private var configuration: ConnectionConfiguration
  private let environment: ClientEnvironment
  private var loop: any Loop { environment.loop }
  private var machine: any SubscriptionClientMachine
  private var reconnect: ReconnectMachine
  private var random: SeededRandom
  private var phase = Phase.idle
  /// Names the present attempt or socket; news of older ones is ignored.
  private var generation = 0
  private var operations: [OperationID: SocketOperation] = [:]
  private var ids: [ObjectIdentifier: OperationID] = [:]
  private var lastID = 0
  private var socket: (any MessageSocket)?
  private var attempt: ConnectAttempt?
  private var question: CredentialQuestion?
  private var timer: LoopTimer?
  private var idleTimer: LoopTimer?
  private var holders: Set<ObjectIdentifier> = []
  private let knowledge: ServerKnowledge
  private let events: ConnectionEvents
  private var hasConnected = false
  /// One that was opened because others were full; it goes when it is empty.
  private let isSpare: Bool
  weak var group: ConnectionGroup?

  init(
    _ endpoint: GraphQLEndpoint, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment,
    _ knowledge: ServerKnowledge, _ events: ConnectionEvents, isSpare: Bool = false
  ) {
    self.isSpare = isSpare
    self.knowledge = knowledge
    self.events = events
    self.endpoint = endpoint
    self.configuration = configuration
    self.environment = environment
    machine = ClientMachines.machine(configuration)
    reconnect = ReconnectMachine(configuration.reconnect, dialect: configuration.dialect.protocolMachine)
    random = SeededRandom(seed: environment.chance.next())
  }

  // MARK: Operations

  var operationCount: Int { operations.count }

  func start(_ operation: SocketOperation) {
    let core = operation.core
    if case .single = operation.consumer, machine.dialect == .appSync {
      let error = GraphQLClientError(.invalidRequest, "AppSync's socket carries subscriptions only; use HTTP")
      return core.move(to: .finished(.error(error)))
    }
    lastID += 1
    guard let id = OperationID(String(lastID)) else { return }
    operations[id] = operation
    armDeadline(of: id)
    ids[ObjectIdentifier(core)] = id
    idleTimer?.cancel()
    act {
      machine.start(
        id, operation.request, repetition: operation.repetition, position: operation.position, at: loop.now,
        actions: &$0)
    }
    if phase == .idle { dial(.connecting(attempt: 1)) }
    if phase == .paused { core.move(to: .paused) }
  }

  func cancel(_ key: ObjectIdentifier) {
    guard let id = ids[key] else { return }
    act { machine.cancel(id, actions: &$0) }
    forget(id)
    if operations.isEmpty, phase == .waiting { rest() }
  }

  private func armDeadline(of id: OperationID) {
    guard case .single(_, let kind) = operations[id]?.consumer else { return }
    let time = configuration.requestTimeout
    let deadline = operations[id]?.deadline ?? loop.now + time
    operations[id]?.deadline = deadline
    operations[id]?.timer = loop.schedule(at: deadline) { [weak self] in
      guard let self, let operation = operations[id] else { return }
      act { machine.cancel(id, actions: &$0) }
      let isUnknown = operation.wasSent && kind != .query
      finish(
        id, .error(GraphQLClientError(isUnknown ? .outcomeUnknown : .timeout, "no answer within \(time)")))
    }
  }

  private func forget(_ id: OperationID) {
    guard let operation = operations.removeValue(forKey: id) else { return }
    operation.timer?.cancel()
    let key = ObjectIdentifier(operation.core)
    ids[key] = nil
    hasRoom(key)
    armIdleTimer()
  }

  func hasRoom(_ key: ObjectIdentifier) {
    guard holders.remove(key) != nil, holders.isEmpty else { return }
    socket?.isReading = true
    armTimer(notBefore: loop.now + configuration.pongTimeout)
  }

  // MARK: Dialling

  private func dial(_ reason: CredentialReason) {
    generation += 1
    let mine = generation
    guard let provider = configuration.credentials else { return open(Credentials()) }
    phase = .asking
    question = CredentialQuestion(provider, reason, timeout: configuration.credentialTimeout, environment) {
      [weak self] in self?.answered($0, mine)
    }
  }

  private func answered(_ answer: Result<Credentials, any Error>, _ whose: Int) {
    guard whose == generation, phase == .asking else { return }
    question = nil
    switch answer {
    case .success(let credentials): open(credentials)
    case .failure(let error): ended(.failed("no credentials: \(error)", status: nil), cause: error)
    }
  }

  private func open(_ credentials: Credentials) {
    phase = .opening
    generation += 1
    let mine = generation
    let handler = SocketHandler(self, generation: mine)
    do throws(GraphQLClientError) {
      var checked = HTTPHeaders()
      try checked.append(checking: configuration.headers + credentials.headers)
    } catch {
      return ended(.failed(error.message, status: nil))
    }
    let opening: SocketOpening
    let sockets: any MessageSocketConnector
    do throws(GraphQLClientError) {
      sockets = try environment.webSockets()
      opening = try SocketOpening(
        endpoint, configuration, credentials, calendar: environment.calendar(), at: loop.now)
    } catch {
      fail(error)
      return rest()
    }
    let request = MessageSocketRequest(
      endpoint: opening.endpoint, subprotocols: opening.subprotocols, headers: opening.headers,
      openTimeout: configuration.openTimeout, messageBytes: configuration.messageBytes,
      compresses: configuration.compresses)
    attempt = sockets.open(request, on: loop, handler: handler) { [weak self] result in
      guard let self, mine == self.generation else { return }
      self.attempt = nil
      switch result {
      case .failure(let failure): self.ended(.failed(failure.message, status: failure.status))
      case .success(let opened): self.opened(opened, opening)
      }
    }
  }

  private func opened(_ opened: MessageSocketConnector.Opened, _ opening: SocketOpening) {
    guard opened.subprotocol == machine.dialect.subprotocol else {
      opened.socket.abort()
      let text = "the server chose the subprotocol \(opened.subprotocol ?? "none")"
      return ended(.closed(4406, text))
    }
    socket = opened.socket
    phase = .open
    renewVariables()
    machine.sign(with: opening.signer)
    act { machine.opened(payload: opening.payload, at: loop.now, actions: &$0) }
  }

  /// Subscriptions whose program knows places of its own begin again behind them.
  private func renewVariables() {
    for id in inOrder {
      guard var operation = operations[id], operation.renew() else { continue }
      operation.position = machine.position(of: id) ?? operation.position
      operations[id] = operation
      var actions: [SubscriptionClientAction] = []
      machine.cancel(id, actions: &actions)
      machine.start(
        id, operation.request, repetition: operation.repetition, position: operation.position, at: loop.now,
        actions: &actions)
      follow(actions)
    }
  }

  // MARK: News from the socket

  func received(_ text: [UInt8], _ whose: Int) {
    guard whose == generation, phase == .open else { return }
    act { machine.receive(text, at: loop.now, actions: &$0) }
  }

  func receivedBinary(_ whose: Int) {
    guard whose == generation, phase == .open else { return }
    follow([.close(.badResponse("a binary message"))])
  }

  func closed(_ code: WebSocketCloseCode, _ reason: String, _ whose: Int) {
    guard whose == generation, phase == .open else { return }
    ended(.closed(code, reason))
  }

  private func act(_ body: (inout [SubscriptionClientAction]) -> Void) {
    var actions: [SubscriptionClientAction] = []
    body(&actions)
    follow(actions)
    if phase == .open { armTimer() }
  }

  private func follow(_ actions: [SubscriptionClientAction]) {
    for action in actions {
      switch action {
      case .send(let text): socket?.send(text: text)
      case .acknowledged(let payload): acknowledged(payload)
      case .pinged(let payload): events.tell(.ping(payload: payload))
      case .ponged(let payload): events.tell(.pong(payload: payload))
      case .started(let id):
        operations[id]?.wasSent = true
        started(id)
      case .ready(let id, _), .confirmed(let id): live(id)
      case .next(let id, let payload, let cursor):
        // Some servers of AppSync's protocol forget to confirm, and earlier ones of this package did for streams of the
        // program's own.
        if machine.confirmsSubscriptions, operations[id]?.wasLiveHere == false { live(id) }
        reconnect.proved()
        operations[id]?.hasRefreshed = false
        deliver(id, SubscriptionEvent(payload: payload, cursor: cursor))
      case .gap(let id, let gap):
        deliver(
          id, SubscriptionEvent(gap: EventGap(.init(rawValue: gap.reason), from: gap.from, to: gap.to)))
      case .failed(let id, let errors):
        if errors.contains(where: { Refusals.isTooManyOperations($0) }), moveElsewhere(id) { break }
        finish(id, .error(GraphQLClientError(.operationFailed, Self.message(errors), errors: errors)))
      case .unauthorized(let id, let errors): unauthorized(id, errors)
      case .refused(let retry, let errors):
        socket?.close(.normal, reason: "")
        ended(.refused(retry, Self.message(errors), errors: errors))
      case .mismatched(let answered):
        socket?.close(4004, reason: "The protocol offered was another")
        ended(.mismatched("the server speaks \(answered)"))
      case .violated(let id, let what): finish(id, .error(GraphQLClientError(.protocolViolation, what)))
      case .completed(let id): finish(id, .completed)
      case .lost(let id): lost(id)
      case .close(let close):
        socket?.close(close.code, reason: close.reason)
        ended(.closed(close.code, close.reason))
      }
    }
  }

  private func acknowledged(_ payload: JSONObject?) {
    reconnect.acknowledged(at: loop.now)
    if machine.continuity.writes { knowledge.remembersWrites = true }
    events.tell(hasConnected ? .reconnected(payload: payload) : .connected(payload: payload))
    hasConnected = true
    armIdleTimer()
  }

  /// The server has as many operations on this connection as it allows. False when it has no other: then it allows none.
  private func moveElsewhere(_ id: OperationID) -> Bool {
    guard let group, operations.count > 1, var operation = operations[id] else { return false }
    forget(id)
    operation.wasRefused()
    group.move(operation, from: self)
    return true
  }

  /// The server says that the subscription is live, or shows it.
  private func live(_ id: OperationID) {
    reconnect.proved()
    operations[id]?.wasLive = true
    operations[id]?.wasLiveHere = true
    operations[id]?.hasRefreshed = false
    operations[id]?.core.move(to: .active, isConfirmed: true)
  }

  /// One operation's credentials were refused: new ones are asked for once, on a new connection, as this dialect's
  /// sockets are opened with them; a second refusal ends that operation alone.
  private func unauthorized(_ id: OperationID, _ errors: [JSONValue]) {
    if operations[id]?.hasRefreshed == true || configuration.credentials == nil {
      var ignored: [SubscriptionClientAction] = []
      machine.cancel(id, actions: &ignored)
      let text = Self.message(errors)
      return finish(id, .error(GraphQLClientError(.unauthorized, text, errors: errors)))
    }
    operations[id]?.hasRefreshed = true
    operations[id]?.wasSent = false
    leave(.normal, "")
    moveAll(to: .reconnecting, because: "the server refused the credentials")
    dial(.refused(code: ReconnectMachine.refusalByMessage))
  }

  private static func message(_ errors: [JSONValue]) -> String {
    errors.first?["message"]?.string ?? "the server gave no reason"
  }

  private func started(_ id: OperationID) {
    guard let operation = operations[id] else { return }
    let canResume = machine.continuity.cursors && machine.position(of: id)?.cursor != nil
    operations[id]?.wasLiveHere = false
    operations[id]?.wasLiveEarlier = operation.wasLive
    operations[id]?.position = machine.position(of: id) ?? operation.position
    if operation.wasLive, !canResume, case .subscription = operation.consumer {
      let gap = EventGap(.serverCannotResume, from: machine.position(of: id)?.cursor)
      deliver(id, SubscriptionEvent(gap: gap))
    }
    if !machine.confirmsSubscriptions {
      operations[id]?.wasLive = true
      operation.core.move(to: .active)
    }
  }

  private func deliver(_ id: OperationID, _ event: SubscriptionEvent) {
    guard let core = operations[id]?.core else { return }
    if core.deliver(event) {
      holders.insert(ObjectIdentifier(core))
      socket?.isReading = false
      timer?.cancel()
    }
  }

  private func finish(_ id: OperationID, _ end: SubscriptionEnd) {
    let core = operations[id]?.core
    forget(id)
    core?.move(to: .finished(end))
  }

  private func lost(_ id: OperationID) {
    guard case .single(_, let kind) = operations[id]?.consumer else { return }
    let error =
      kind != .query
      ? GraphQLClientError(.outcomeUnknown, "the connection was lost while the mutation was on its way")
      : GraphQLClientError(.connectionLost, "the connection was lost while the query was on its way")
    finish(id, .error(error))
  }

  // MARK: Ends

  /// The socket or the attempt is over; what follows is the machine's decision.
  private func ended(_ ending: ReconnectMachine.Ending, cause: (any Error)? = nil) {
    dropSocket()
    switch ending {
    case .closed(let code, let reason): events.tell(.disconnected(code: Int(code.rawValue), reason: reason))
    case .failed(let text, status: _), .refused(_, let text, errors: _), .mismatched(let text):
      events.tell(.disconnected(code: nil, reason: text))
    }
    let why = ending.text
    let decision = reconnect.ended(ending, isNeeded: !operations.isEmpty, at: loop.now, using: &random)
    switch decision {
    case .rest: rest()
    case .giveUp(let code, let text, let closeCode, let errors):
      fail(
        GraphQLClientError(
          code, text, underlying: cause, closeCode: closeCode, status: ending.status, errors: errors))
      rest()
    case .refresh(let code):
      moveAll(to: .reconnecting, because: why)
      dial(.refused(code: code))
    case .retry(let moment):
      phase = .waiting
      moveAll(to: .reconnecting, because: why)
      timer = loop.schedule(at: moment) { [weak self] in
        guard let self, phase == .waiting else { return }
        dial(.connecting(attempt: reconnect.failures + 1))
      }
    }
  }

  private func dropSocket() {
    generation += 1
    timer?.cancel()
    idleTimer?.cancel()
    attempt?.cancel()
    attempt = nil
    question?.cancel()
    question = nil
    socket?.isReading = true
    socket = nil
    holders = []
    // Not `act`: what follows must not arm timers of the socket that is gone.
    var actions: [SubscriptionClientAction] = []
    machine.disconnected(actions: &actions)
    follow(actions)
  }

  private func rest() {
    timer?.cancel()
    phase = .idle
    if isSpare, operations.isEmpty { group?.released(self) }
  }

  /// Subscriptions that had been live say where they are; those that were never sent stay pending.
  private func moveAll(to state: SubscriptionState, because reason: String? = nil) {
    let life = reason.map { SubscriptionLife.interrupted(reason: $0, attempt: max(1, reconnect.failures)) }
    for id in inOrder {
      guard let core = operations[id]?.core else { continue }
      if case .reconnecting = state, case .pending = core.state {
        if let life { core.tell(life) }
        continue
      }
      core.move(to: state, telling: life)
    }
  }

  private var inOrder: [OperationID] {
    operations.keys.sorted { Int($0.text) ?? 0 < Int($1.text) ?? 0 }
  }

  private func fail(_ error: GraphQLClientError) {
    for id in inOrder {
      var ignored: [SubscriptionClientAction] = []
      machine.cancel(id, actions: &ignored)
      finish(id, .error(error))
    }
  }

  /// Closes the socket, if there is one, by this side's own wish.
  private func leave(_ code: WebSocketCloseCode, _ reason: String) {
    if let socket {
      var farewell: [SubscriptionClientAction] = []
      machine.leaving(actions: &farewell)
      follow(farewell)
      socket.close(code, reason: reason)
      events.tell(.disconnected(code: Int(code.rawValue), reason: reason))
    }
    dropSocket()
  }

  func pause() {
    guard phase != .paused, phase != .shutDown else { return }
    leave(.goingAway, "paused")
    phase = .paused
    moveAll(to: .paused)
  }

  func resume() {
    guard phase == .paused else { return }
    if operations.isEmpty { return rest() }
    phase = .idle
    dial(.connecting(attempt: 1))
  }

  /// Changes what the next sockets open with. `reconnecting` replaces an open socket now: subscriptions resume on the
  /// next, and what is on its way there is not sent again.
  func update(reconnecting: Bool, _ change: (inout ConnectionConfiguration) -> Void) {
    change(&configuration)
    guard reconnecting, phase == .open else { return }
    leave(.normal, "")
    moveAll(to: .reconnecting, because: "the client changed what it connects with")
    dial(.connecting(attempt: 1))
  }

  func shutDown() {
    guard phase != .shutDown else { return }
    leave(.normal, "")
    phase = .shutDown
    for id in inOrder {
      switch operations[id]?.consumer {
      // Its owner has left, and it goes on elsewhere from its last place.
      case .subscription: finish(id, .cancelled)
      case .single: finish(id, .error(GraphQLClientError(.shutDown, "the client was shut down")))
      case nil: break
      }
    }
  }

  // MARK: Time

  private func armTimer(notBefore: Instant? = nil) {
    timer?.cancel()
    guard holders.isEmpty, var deadline = machine.nextDeadline else { return }
    if let notBefore { deadline = max(deadline, notBefore) }
    timer = loop.schedule(at: deadline) { [weak self] in
      guard let self, phase == .open else { return }
      act { machine.reachedDeadline(at: loop.now, actions: &$0) }
    }
  }

  private func armIdleTimer() {
    let timeout = configuration.idleTimeout ?? (isSpare ? ConnectionConfiguration.spareTimeout : nil)
    guard let timeout, operations.isEmpty, phase == .open else { return }
    idleTimer?.cancel()
    idleTimer = loop.schedule(at: loop.now + timeout) { [weak self] in
      guard let self, phase == .open, operations.isEmpty else { return }
      leave(.normal, "")
      rest()
    }
  }
}
