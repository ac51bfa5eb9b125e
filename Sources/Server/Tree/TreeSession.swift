internal import MartletAccess
internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletSockets
internal import MartletStore
internal import MartletTreeRules
internal import MartletTreeWire
internal import MartletVocabulary
internal import MartletWire

/// One WebSocket of the tree's protocol. Confined to its loop.
final class TreeSession: SocketEndpoint, LoopSession, TurnEnd {
  /// A listen, with what the client knows of the value.
  private struct Asked {
    var number: Int64
    var tag: Int64?
    var hash: String?
    var ranges: CompoundHash?
    var resumption: TreeResumption?
  }

  private struct Key: Hashable {
    var path: TreePath
    var window: Window
    var isWatch = false
  }

  private let service: TreeService
  private let use: PeerUse
  private let host: String
  /// The name under which the client numbers its writes.
  private let client: String?
  /// Judges a credential that a client sends after opening: calls back with its caller, or with nil when it is not
  /// accepted. Returns the question where that is found out later.
  private let authenticate: (String, @escaping (TreeAdmitted?) -> Void) -> PendingQuestion?
  let serial: Int
  private var machine: TreeServerMachine
  private var socket: WebSocketChannel?
  private var admitted: TreeAdmitted
  /// The caller of the handshake, which the client is again when it takes its credential back.
  private var opening: TreeAdmitted
  private var expiry: LoopTimer?
  /// The credential that is being judged.
  private var question: PendingQuestion?
  /// Requests that came after that credential: they are for its caller, and wait. The machine bounds how many.
  private var waiting: [(request: TreeRequest, number: Int64, additions: TreeAdditions)] = []
  private var writes = TreeWriteOrder()
  private var listeners: [Key: TreeListener] = [:]
  private lazy var loads = TreeLoads(service) { [weak self] in self?.socket?.pendingBytes ?? 0 }
  /// Listens that have not been answered.
  private var unanswered: [ObjectIdentifier: Asked] = [:]
  /// The session of an earlier connection that the client names.
  private let lastSession: String?
  /// What the client leaves for its end; nil before the socket is open.
  private var lease: SessionLease?
  /// Whether the server has asked the client to go.
  private var isLeaving = false
  /// Answers to writes whose windows are still being read.
  private var held: [(offset: Int64, number: Int64, answer: TreeAnswer)] = []
  /// Whether changes were dropped because the client did not read.
  private var isLagging = false

  /// - Parameter opening: what the query of the handshake asks for.
  init(
    _ service: TreeService, _ use: PeerUse, host: String, _ opening: TreeOpening, as admitted: TreeAdmitted,
    authenticate: @escaping (String, @escaping (TreeAdmitted?) -> Void) -> PendingQuestion?
  ) {
    self.service = service
    self.use = use
    machine = TreeServerMachine(
      limits: TreeWireLimits(service.limits), treeLimits: service.treeLimits, isExtended: opening.isExtended,
      numbersWrites: opening.client != nil)
    client = opening.client
    lastSession = opening.lastSession
    self.host = host
    self.admitted = admitted
    self.opening = admitted
    serial = service.nextSerial()
    self.authenticate = authenticate
    boundMessages()
  }

  /// Whether the client has shown no credentials that were accepted, and guests are not admitted.
  private var isStranger: Bool {
    admitted.grant == nil && admitted.caller.auth.isNull && !admitted.caller.isAdministrator && !service.admitsGuests
  }

  /// Whose session it is now, and what is called before it is another one's.
  var identity: Identity { admitted.caller.identity }
  var callerChanged: (Identity) -> Void = { _ in }

  /// Nothing large is kept for a stranger.
  private func boundMessages() {
    let bytes = isStranger ? service.limits.strangerMessageBytes : nil
    machine.bound(messageBytes: bytes)
    // The piece with which a message becomes too long is refused by the machine, which says why.
    socket?.bound(messageBytes: bytes.map { $0 + service.limits.frameBytes })
  }

  // MARK: The socket

  func opened(_ socket: WebSocketChannel) {
    self.socket = socket
    boundMessages()
    service.open(self)
    expire()
    // A client that comes back is the session it was, as long as something of it is left.
    var session = service.calendar.identifier()
    if let lastSession, service.leases.hasWrites("s:" + lastSession) { session = lastSession }
    let owner = client.flatMap { machine.isExtended ? "c:" + $0 : nil } ?? "s:" + session
    lease = SessionLease(service, owner: owner)
    perform(machine.opened(milliseconds: service.milliseconds, host: host, session: session))
  }

  func received(text: [UInt8]) { perform(machine.receive(String(decoding: text, as: UTF8.self))) }

  func drained() {
    let restarts = isLagging
    isLagging = false
    // What was dropped is not sent again: each listener gets its value as it is now.
    for listener in listeners.values.inOrder where restarts && !listener.isUnread {
      listener.restart()
      loads.add(listener)
    }
    loads.next()
  }

  func closed(_ closure: WebSocketClosure) {
    (socket, question, waiting) = (nil, nil, [])
    expiry?.cancel()
    service.close(self)
    for listener in listeners.values { service.remove(listener) }
    listeners = [:]
    lease?.end(byServer: isLeaving)
  }

  private func perform(_ actions: [TreeServerMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let frames): for frame in frames { socket?.send(text: Array(frame.utf8)) }
      case .request(let number, let request, let additions): handle(request, number, additions)
      case .pinged: sendPosition()
      case .close(let error): socket?.close(.policyViolation, reason: error.description)
      }
    }
  }

  private func answer(_ number: Int64, _ answer: TreeAnswer) { perform(machine.answer(number, answer)) }

  // MARK: The server

  var isSocket: Bool { true }
  var hasRunningOperations: Bool { writes.areRunning }

  func leave() {
    isLeaving = true
    socket?.close(.goingAway, reason: "The server is being stopped.")
  }

  func recheckSchema() -> Int { 0 }

  func recheckAccess() -> Int {
    guard !service.isGood(admitted.grant) else { return 0 }
    withdraw("The credentials were withdrawn.")
    return 1
  }

  /// The present credential is no longer accepted: the client is a guest from now on.
  private func withdraw(_ reason: String) {
    use.noteWithdrawal(identity, reason: reason)
    push(.revoked(status: "expired_token", reason: reason))
    lease?.withdrawn(admitted.caller)
    if !service.isGood(opening.grant) || opening.deadline.map({ $0 <= service.loop.now }) == true { opening = .guest }
    change(to: .guest)
  }

  private func expire() {
    expiry?.cancel()
    expiry = admitted.deadline.map { deadline in
      service.loop.schedule(at: deadline) { [weak self] in self?.withdraw("The credentials have expired.") }
    }
  }

  // MARK: Requests

  private func handle(_ request: TreeRequest, _ number: Int64, _ additions: TreeAdditions) {
    if question != nil { return waiting.append((request, number, additions)) }
    if isStranger, let actions = machine.refuseStranger(request, number) { return perform(actions) }
    switch request {
    case .listen(let path, let window, let tag, let hash, let ranges):
      listen(
        Key(path: path, window: window),
        Asked(number: number, tag: tag, hash: hash, ranges: ranges, resumption: TreeResumption(additions)))
    case .unlisten(let path, let window, _):
      unlisten(Key(path: path, window: window))
      answer(number, .ok)
    case .watch(let path):
      listen(Key(path: path, window: .all, isWatch: true), Asked(number: number, resumption: TreeResumption(additions)))
    case .unwatch(let path):
      unlisten(Key(path: path, window: .all, isWatch: true))
      answer(number, .ok)
    case .put(let path, let json, let expectedHash):
      write(TreeWriteRequest(path: path, content: .put(json), expectedHash: expectedHash), number, additions)
    case .merge(let path, let object):
      write(TreeWriteRequest(path: path, content: .merge(object)), number, additions)
    case .get(let path, let window):
      // The readers do not wait for the writer: without this the client would miss what it wrote before.
      let read = { [self, caller = admitted.caller] in get(path, window, as: caller, number) }
      if !writes.hold(read) { read() }
    case .deferredPut(let path, let json): leave(path, .put(json), number, additions)
    case .deferredMerge(let path, let object): leave(path, .merge(object), number, additions)
    case .cancelDeferred(let path):
      lease?.cancel(at: path) { [self] result in
        machine.deferredWritesEnded((try? result.get()) ?? 0)
        answer(number, result.answer { _ in .ok })
      }
    case .authenticate(let credential, _, let variables):
      question = authenticate(credential) { [weak self] in self?.authenticated($0?.restricted(to: variables), number) }
    case .unauthenticate:
      change(to: opening)
      answer(number, .ok)
    case .attest, .stats: answer(number, .ok)
    }
  }

  private func get(_ path: TreePath, _ window: Window, as caller: TreeCaller, _ number: Int64) {
    // The answers of a closed socket are not sent, and its reads are not worth making.
    guard socket != nil else { return }
    service.read(path, window, as: caller) { [self] result in
      use.note(result, caller.identity)
      answer(
        number,
        result.answer { found in
          let revision = machine.isExtended ? service.revision(found.head) : nil
          return TreeAnswer(status: "ok", data: found.node.exportedJSON(), revision: revision)
        })
    }
  }

  private func leave(
    _ path: TreePath, _ content: TreeWriteRequest.Content, _ number: Int64, _ additions: TreeAdditions
  ) {
    let write = LeftWrite(path: path, content: content, caller: admitted.caller, grace: additions.grace ?? 0)
    lease?.leave(write) { [self] result in
      if case .failure = result { machine.deferredWritesEnded(1) }
      answer(number, result.answer { .ok })
    }
  }

  private func authenticated(_ admitted: TreeAdmitted?, _ number: Int64) {
    question = nil
    if let admitted {
      change(to: admitted)
      lease?.authenticated(admitted.caller)
      answer(number, TreeAnswer(status: "ok", data: ["auth": admitted.caller.auth]))
    } else {
      answer(number, TreeAnswer(status: "invalid_token", data: "the credential is not accepted"))
    }
    let held = waiting
    waiting = []
    // Another credential among them makes the rest wait again.
    for (request, number, additions) in held { handle(request, number, additions) }
  }

  private func write(_ request: TreeWriteRequest, _ number: Int64, _ additions: TreeAdditions) {
    var request = request
    if let mark = additions.write, let client { request.number = TreeWriteRequest.Number(client: client, mark: mark) }
    let place = writes.begin()
    let caller = admitted.caller
    service.write(request, as: caller) { [self] result in
      use.note(result, caller.identity)
      defer { for read in writes.end(place) { read() } }
      let answer = result.answer { written in
        guard machine.isExtended else { return .ok }
        let revision = written.receipt.offsets.map { service.revision($0.upperBound) }
        return TreeAnswer(status: "ok", data: written.resolved ?? .null, revision: revision)
      }
      guard let offset = try? result.get().receipt.offsets?.upperBound, isReading(before: offset) else {
        return self.answer(number, answer)
      }
      held.append((offset, number, answer))
    }
  }

  /// Whether a listener has not been shown the write that ends at `offset`: what a write changes is sent before it is
  /// acknowledged.
  private func isReading(before offset: Int64) -> Bool {
    listeners.values.contains { $0.isWaiting && $0.offset ?? 0 < offset }
  }

  private func answerHeld() {
    let due = held.filter { !isReading(before: $0.offset) }
    held.removeAll { entry in due.contains { $0.number == entry.number } }
    for entry in due { answer(entry.number, entry.answer) }
  }

  /// Another caller: listeners that it may not have are ended.
  private func change(to admitted: TreeAdmitted) {
    callerChanged(admitted.caller.identity)
    self.admitted = admitted
    boundMessages()
    expire()
    for listener in listeners.values.inOrder {
      listener.caller = admitted.caller
      if isStranger {
        service.remove(listener)
        show(.ended(.unauthenticated), of: listener)
      } else {
        service.callerChanged(listener)
      }
    }
  }

  // MARK: Listeners

  private func listen(_ key: Key, _ asked: Asked) {
    unlisten(key)
    let hold: CallerHold?
    do {
      hold = try use.hold(.subscriptions, by: identity)
    } catch {
      return perform(machine.refuse(asked.number, listen: key.path, key.window, isWatch: key.isWatch, error.answer))
    }
    let listener = TreeListener(
      at: key.path, key.window, isWatch: key.isWatch, tag: asked.tag, as: admitted.caller, resuming: asked.resumption
    ) { [weak self] listener, showing in
      self?.show(showing, of: listener)
    }
    listener.hold = hold
    listener.afterRead = { [weak self, unowned listener] in
      self?.answerHeld()
      self?.loads.ended(listener)
    }
    // A client that has something of the value may have it all.
    if asked.hash?.isEmpty ?? true, asked.ranges == nil, machine.isExtended { listener.parts = service.parts }
    listeners[key] = listener
    unanswered[ObjectIdentifier(listener)] = asked
    service.insert(listener)
    loads.add(listener)
  }

  private func unlisten(_ key: Key) {
    guard let listener = listeners.removeValue(forKey: key) else { return }
    service.remove(listener)
    // Its value may still be read, and the client waits for an answer to each request.
    if let asked = unanswered.removeValue(forKey: ObjectIdentifier(listener)) { answer(asked.number, .ok) }
  }

  private func show(_ showing: TreeShowing, of listener: TreeListener) {
    switch showing {
    case .value(let node):
      let asked = unanswered.removeValue(forKey: ObjectIdentifier(listener))
      // An empty hash is that of a client without a value.
      let isKnown = asked?.hash.map { !$0.isEmpty && $0 == TreeHash.hash(node) } ?? false
      let revision = service.revision(listener.reached)
      if !isKnown, let value = TreePush(node, of: listener, at: revision, knowing: asked?.ranges) { push(value) }
      complete(asked, listener)
    case .part(let node, let number, let isLast):
      push(.part(listener.path, node.exportedJSON(), TreePush.Part(number: number, isLast: isLast)))
      if isLast { complete(unanswered.removeValue(forKey: ObjectIdentifier(listener)), listener) }
    case .gap(let reason, let since):
      guard machine.isExtended else { return }
      let from = unanswered[ObjectIdentifier(listener)]?.resumption?.cursor.description ?? since.map(service.revision)
      let gap = TreePush.Gap(reason: reason, from: from, to: service.revision(listener.reached))
      push(TreePush(gap, of: listener))
    case .resumed(let changes):
      if !changes.isEmpty { push(TreePush(resumed: changes, of: listener, to: service.revision(listener.reached))) }
      complete(unanswered.removeValue(forKey: ObjectIdentifier(listener)), listener)
    case .changes(let changes):
      guard let socket, listener.isUnread || socket.pendingBytes <= service.limits.pendingBytes else {
        isLagging = true
        return service.loop.atEndOfTurn(self)
      }
      let frames = changes.frames(for: listener) {
        machine.frames(of: TreePush(changes.writes, of: listener, at: service.revision(changes.offset)))
      }
      for frame in frames { socket.send(text: frame) }
      if machine.isExtended { service.loop.atEndOfTurn(self) }
    case .ended(let refusal):
      use.note(refusal, listener.caller.identity)
      listeners[Key(path: listener.path, window: listener.window, isWatch: listener.isWatch)] = nil
      guard let asked = unanswered.removeValue(forKey: ObjectIdentifier(listener)) else {
        return push(TreePush(refusal, of: listener, isExplained: machine.isExtended))
      }
      perform(
        machine.refuse(
          asked.number, listen: listener.path, listener.window, isWatch: listener.isWatch, refusal.answer))
    }
  }

  /// Answers a listen: its value has been sent.
  private func complete(_ asked: Asked?, _ listener: TreeListener) {
    listener.parts = machine.isExtended ? service.parts : nil
    guard let asked else { return }
    let revision = machine.isExtended ? service.revision(listener.reached) : nil
    let warning: JSONValue = service.hasIndex(listener.path, listener.window) ? .null : ["w": ["no_index"]]
    answer(asked.number, TreeAnswer(status: "ok", data: warning, revision: revision))
  }

  private func push(_ push: TreePush) {
    perform(machine.push(push))
    service.loop.atEndOfTurn(self)
  }

  // MARK: Positions

  func turnEnded() {
    // What was written in this turn has been sent. A channel that was never full does not report that it is empty.
    if socket?.pendingBytes == 0 { drained() }
    sendPosition()
  }

  /// Sends the revision up to which every listener has been shown everything, if that is so.
  private func sendPosition() {
    guard machine.isExtended, !isLagging, let offset = service.shownOffset,
      !listeners.values.contains(where: { $0.isWaiting && unanswered[ObjectIdentifier($0)] == nil })
    else { return }
    perform(machine.position(service.revision(offset)))
  }
}

extension TreeRefusal {
  /// The refusal as the protocol has it.
  var answer: TreeAnswer {
    switch self {
    case .unauthenticated: TreeAnswer(status: "permission_denied", data: "credentials are needed")
    case .denied(let denial): TreeAnswer(status: "permission_denied", data: .string(denial.description))
    case .forbidden(let path, let model):
      TreeAnswer(
        status: "permission_denied", data: .string("\(path): the rules of the model \(model) do not allow it"))
    case .stale: TreeAnswer(status: "datastale", data: "the value has changed")
    case .repeated(let status, let reason): TreeAnswer(status: status, data: .string(reason))
    case .invalid(let error): TreeAnswer(status: "invalid_data", data: .string(error.description))
    case .unknownNamespace(let name):
      TreeAnswer(status: "unknown_namespace", data: .string("there is no namespace \"\(name)\""))
    case .store(let error):
      switch error.code {
      case .invalid: TreeAnswer(status: "too_big", data: .string(error.message))
      case .overloaded, .deadline: TreeAnswer(status: "unavailable", data: .string(error.message))
      case .outcomeForgotten: TreeAnswer(status: "outcome_forgotten", data: .string(error.message))
      default: TreeAnswer(status: "internal_error", data: .string(error.message))
      }
    }
  }
}

extension TreeServerMachine {
  /// Refuses what a stranger asks for; nil for what it may ask: to be admitted, and what has no effect.
  fileprivate mutating func refuseStranger(_ request: TreeRequest, _ number: Int64) -> [Action]? {
    let refusal = TreeRefusal.unauthenticated.answer
    switch request {
    case .authenticate, .unauthenticate, .attest, .stats, .unlisten, .unwatch: return nil
    case .watch(let path): return refuse(number, listen: path, .all, isWatch: true, refusal)
    case .listen(let path, let window, _, _, _): return refuse(number, listen: path, window, refusal)
    case .deferredPut, .deferredMerge:
      deferredWritesEnded(1)
      return answer(number, refusal)
    case .put, .merge, .get, .cancelDeferred: return answer(number, refusal)
    }
  }
}

extension QuotaRefusal {
  /// The refusal as the protocol has it, with the name of the limit.
  fileprivate var answer: TreeAnswer {
    TreeAnswer(status: "limit_exceeded", data: .string(message))
  }
}

extension Result where Failure == TreeRefusal {
  fileprivate func answer(_ body: (Success) -> TreeAnswer) -> TreeAnswer {
    switch self {
    case .success(let value): body(value)
    case .failure(let refusal): refusal.answer
    }
  }
}

extension TreeResumption {
  /// What a client says that it has; nil when it says nothing that can be read.
  fileprivate init?(_ additions: TreeAdditions) {
    guard let cursor = additions.since.flatMap({ Cursor($0) }) else { return nil }
    self.init(cursor: cursor, keys: Set(additions.keys))
  }
}
