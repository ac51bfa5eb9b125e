import MartletJSON
package import MartletJSONTree
package import MartletTreeWire
package import MartletVocabulary

/// The client of the synced tree over all its connections, without its sockets: listeners, writes, reads, transactions
/// and deferred writes in; frames, events and outcomes out.
///
/// It joins what is listened to, and known of it, with the protocol's machine, which knows which requests were not
/// answered.
///
/// ```swift
/// var client = TreeClient()
/// perform(client.listen(at: path, .all, as: ListenerID(1), now: now))
/// client.opened(now: now)
/// perform(client.receive(greeting, now: now))      // sends the listen
/// ```
package struct TreeClient: Sendable {
  var wire: TreeClientMachine
  let limits: TreeLimits
  var lastID: Int64 = 0
  package private(set) var isConnected = false
  /// The server's clock minus this client's, in milliseconds; zero before the first greeting.
  package private(set) var timeOffset: Int64 = 0

  var listening = Listening()
  /// The writes and the reads that were not answered, by their ids.
  var writes: [Int64: QueuedWrite] = [:]
  var reads: [Int64: Query] = [:]
  var transactions = Transactions()
  var deferred = DeferredWrites()

  /// - Parameters:
  ///   - lastNumber: the number of the last write that an earlier process of this client made.
  ///   - hasEndedWrite: whether a write of this client has ended before.
  package init(
    limits: TreeLimits = TreeLimits(), wireLimits: TreeWireLimits = TreeWireLimits(), lastNumber: Int64 = 0,
    hasEndedWrite: Bool = false
  ) {
    self.limits = limits
    wire = TreeClientMachine(
      limits: wireLimits, treeLimits: .largest, lastNumber: lastNumber, hasEndedWrite: hasEndedWrite)
  }

  mutating func nextID() -> Int64 {
    lastID += 1
    return lastID
  }

  // MARK: The connection

  /// A WebSocket is open; the server's greeting follows.
  package mutating func opened(now: Instant) { wire.opened(now: now) }

  /// The connection is gone, or could not be made.
  package mutating func lost() {
    isConnected = false
    listening.listens.disconnect()
    wire.lost()
    deferred.disconnect()
  }

  /// Takes one text frame.
  ///
  /// - Parameter milliseconds: this client's time since 1970.
  package mutating func receive(_ frame: String, now: Instant, milliseconds: Int64) -> [Action] {
    listening.listens.heard = milliseconds
    let actions = wire.receive(frame, now: now, knowing: listening.knowledge)
    var followed = actions.flatMap { follow($0, now, milliseconds) }
    // After the credential and everything else that is sent again.
    if actions.contains(where: \.isGreeting) {
      followed += follow(listening.greeted(offersWatches: wire.offersWatches == true), now) + registerDeferredAgain(now)
    }
    return followed
  }

  func follow(sent actions: [TreeClientMachine.Action]) -> [Action] {
    actions.compactMap { action in
      if case .send(let frames) = action { .send(frames) } else { nil }
    }
  }

  private mutating func follow(_ action: TreeClientMachine.Action, _ now: Instant, _ milliseconds: Int64) -> [Action] {
    switch action {
    case .send(let frames): return [.send(frames)]
    case .connected(let serverTime, _, let session):
      isConnected = true
      timeOffset = serverTime - milliseconds
      return [.connected(session: session)]
    case .position(let revision):
      listening.listens.reach(revision)
      return []
    case .push(let push): return follow(listening.receive(push), now)
    case .answered(let id, let answer): return answered(id, answer, now)
    case .reset(let host): return [.reset(host: host)]
    case .shutDown(let reason): return [.shutDown(reason: reason)]
    case .close(let error): return [.close(error)]
    }
  }

  private mutating func answered(_ id: Int64, _ answer: TreeAnswer, _ now: Instant) -> [Action] {
    if id == 0 { return [.credential(refused: answer.isOK ? nil : answer.reason)] }
    if let query = listening.listens.query(ofRequest: id) {
      return follow(listening.answered(query, id, answer), now)
    }
    if writes[id] != nil { return settled(id, answer, now) }
    if let query = reads.removeValue(forKey: id) { return [.read(id, listening.engine.reading(query, answer))] }
    if let transaction = transactions.take(request: id) { return stepped(transaction, id, answer, now) }
    return deferred.answered(id, answer) ?? []
  }

  /// Shows this credential now and on every later connection.
  package mutating func authenticate(_ credential: String, isAdministrator: Bool, now: Instant) -> [Action] {
    follow(sent: wire.request(0, .authenticate(credential, isAdministrator: isAdministrator), now: now))
  }

  /// When `passed` should be called; nil without a connection.
  package var deadline: Instant? { wire.deadline }

  package mutating func passed(now: Instant) -> [Action] { follow(sent: wire.passed(now: now)) }

  /// What the server resolves at commit, estimated.
  func estimate(_ milliseconds: Int64) -> ServerValues { ServerValues(milliseconds: milliseconds + timeOffset) }
}

extension TreeClientMachine.Action {
  fileprivate var isGreeting: Bool {
    if case .connected = self { true } else { false }
  }
}

extension TreeLimits {
  /// For what a server sends: its own limits have been applied.
  static var largest: TreeLimits {
    var limits = TreeLimits()
    (limits.depth, limits.keyBytes, limits.textBytes) = (1_000, .max, .max)
    (limits.writeBytes, limits.children, limits.mergePaths) = (.max, .max, .max)
    return limits
  }
}
