import MartletJSON
package import MartletJSONTree
package import MartletVocabulary

/// The client's side of the protocol, over all its connections: what is listened to and what was not answered outlives
/// a connection and is sent again on the next, in the order credential, listens, writes, reads, deferred writes.
///
/// Answers to writes are held back until no listen waits for its answer, so that the values precede them.
package struct TreeClientMachine: Sendable {
  package enum Action: Hashable, Sendable {
    /// Send these frames, in order.
    case send([String])
    /// The server is there.
    case connected(milliseconds: Int64, host: String, session: String)
    /// Everything up to this revision has been received for the listeners whose listens were answered.
    case position(String)
    case push(TreePush)
    /// A request of the owner was answered.
    case answered(Int64, TreeAnswer)
    /// Connect to this host.
    case reset(host: String)
    /// Close and do not come back.
    case shutDown(reason: String)
    /// Close the connection; what the server sent is refused.
    case close(TreeWireError)
  }

  private enum Phase { case disconnected, greeting, open, closed }

  /// What the owner has of a listener's value when its listen is sent.
  package struct Known: Sendable {
    /// Empty without a value.
    package var hash = ""
    package var ranges: CompoundHash?
    /// The revision of the value, for a server that resumes.
    package var since: String?
    /// The children of a window.
    package var keys: [TreeKey] = []

    package init() {}
  }

  /// Asked for the path and the window of a listen, without a window for a watch, and whether the server resumes from
  /// revisions.
  package typealias Knowledge = (_ path: TreePath, _ window: Window?, _ resumes: Bool) -> Known

  /// A request that was not answered, or a listener that runs.
  private struct Pending: Sendable {
    var id: Int64
    var request: TreeRequest
    /// Of a write.
    var number: Int64?
    var grace: Int64?
    var wasSent = false
  }

  private let limits: TreeWireLimits
  private let treeLimits: TreeLimits
  private var reader: TreeFrameReader
  private var phase = Phase.disconnected
  private var nextNumber: Int64 = 1
  /// By the number on this connection.
  private var open: [Int64: Pending] = [:]
  /// Running listeners by their id, in the order of their ids.
  private var listens: [Int64: TreeRequest] = [:]
  /// By id.
  private var unanswered: [Int64: Pending] = [:]
  private var writeOrder = WriteOrder()
  private var credential: TreeRequest?
  private var waitingListens: Set<Int64> = []
  private var heldBack: [(Int64, TreeAnswer)] = []
  /// The numbers of the writes among these: their owner does not have the answers yet.
  private var heldNumbers: [Int64] = []
  private var lastSent = Instant.zero
  /// Whether the server of the present connection, or of the last one, offers what goes beyond version 5.
  package private(set) var isExtended = false
  /// Whether that server sends changes without their values; nil before the first greeting.
  package private(set) var offersWatches: Bool?
  /// The number of the last write.
  package private(set) var lastNumber: Int64
  /// Whether a write of this client has ended: only then may the server take a resend for one that it has forgotten.
  package private(set) var hasEndedWrite: Bool

  /// Writes on their way to a server that remembers them, at a time. Such a server keeps a thousand outcomes that were
  /// not acknowledged. A hundred fill a line of 50 ms with two thousand writes a second, and are all that is sent
  /// again after a loss.
  package static let numberedWritesInFlight = 100

  /// After which silence a keep-alive is due: proxies drop silent connections after a minute.
  package var keepAlive: Duration = .seconds(45)

  /// - Parameters:
  ///   - lastNumber: of the writes that this client made before, in an earlier process.
  ///   - hasEndedWrite: whether one of them has ended.
  package init(
    limits: TreeWireLimits = TreeWireLimits(), treeLimits: TreeLimits = TreeLimits(), lastNumber: Int64 = 0,
    hasEndedWrite: Bool = false
  ) {
    self.limits = limits
    self.treeLimits = treeLimits
    self.lastNumber = lastNumber
    self.hasEndedWrite = hasEndedWrite
    reader = TreeFrameReader(limits: limits)
  }

  /// A WebSocket is open; the server's greeting follows.
  package mutating func opened(now: Instant) {
    phase = .greeting
    reader = TreeFrameReader(limits: limits)
    lastSent = now
  }

  /// The connection is gone. Everything that was not answered is sent again on the next.
  package mutating func lost() {
    phase = .disconnected
    // An answer that was held back has been given.
    let answered = Set(heldBack.map(\.0))
    open = [:]
    waitingListens = []
    for id in answered { unanswered[id] = nil }
    writeOrder.restart { unanswered[$0] != nil }
  }

  /// Answers that were held back when the connection was lost; they hold.
  package mutating func takeHeldBack() -> [Action] {
    defer { (heldBack, heldNumbers) = ([], []) }
    return heldBack.map { .answered($0.0, $0.1) }
  }

  /// Sends a request, or keeps it until the server is there.
  ///
  /// - Parameters:
  ///   - id: names it in the answer; greater than that of every earlier request.
  ///   - number: of a write that an earlier process made and that was not answered; nil numbers a new one.
  ///   - grace: of a deferred write, for how many milliseconds it waits for this client to come back.
  package mutating func request(
    _ id: Int64, _ request: TreeRequest, now: Instant, number: Int64? = nil, grace: Int64? = nil,
    knowing known: Knowledge = { _, _, _ in Known() }
  ) -> [Action] {
    var pending = Pending(id: id, request: request, grace: grace)
    switch request {
    case .listen, .watch: listens[id] = request
    case .unlisten(let path, let window, _): return end(pending, path, window, now)
    case .unwatch(let path): return end(pending, path, nil, now)
    case .authenticate: credential = request
    case .unauthenticate: credential = nil
    case .put, .merge:
      pending.number = number ?? lastNumber + 1
      pending.wasSent = number != nil
      lastNumber = max(lastNumber, pending.number ?? 0)
      unanswered[id] = pending
      writeOrder.append(id)
      return phase == .open ? transmitWrites(now) : []
    case .get, .deferredPut, .deferredMerge, .cancelDeferred: unanswered[id] = pending
    case .attest, .stats: break
    }
    return phase == .open ? transmit(pending, now, known) : []
  }

  /// Asks the server to end a listener, or a watch.
  private mutating func end(_ pending: Pending, _ path: TreePath, _ window: Window?, _ now: Instant) -> [Action] {
    // Answers to writes wait for the answers to earlier listens, but not to those that have ended.
    for (ended, _) in listens.filter({ Self.isListen($0.value, path, window) }) {
      listens[ended] = nil
      waitingListens.remove(ended)
    }
    // Without a connection there is nothing to end.
    if phase != .open { return [.answered(pending.id, .ok)] }
    return transmit(pending, now) + release()
  }

  /// The number of a write that was not answered.
  package func number(of id: Int64) -> Int64? { unanswered[id]?.number }

  /// Whether a write, a read or a deferred write waits for its answer.
  package func isUnanswered(_ id: Int64) -> Bool { unanswered[id] != nil }

  /// Forgets the writes that were not answered; an answer that still comes is ignored.
  ///
  /// - Returns: their ids.
  package mutating func dropWrites() -> [Int64] {
    let dropped = unanswered.values.filter { $0.number != nil }.map(\.id).sorted()
    for id in dropped { unanswered[id] = nil }
    writeOrder.dropped { unanswered[$0] != nil }
    return dropped
  }

  /// - Parameter window: nil for a watch.
  private static func isListen(_ request: TreeRequest, _ path: TreePath, _ window: Window?) -> Bool {
    switch request {
    case .listen(path, let own, _, _, _): own == window
    case .watch(path): window == nil
    default: false
    }
  }

  private mutating func transmit(
    _ pending: Pending, _ now: Instant, _ known: Knowledge = { _, _, _ in Known() }
  ) -> [Action] {
    let number = nextNumber
    nextNumber += 1
    open[number] = pending
    lastSent = now
    var (request, additions) = (pending.request, TreeAdditions())
    if case .listen(let path, let window, let tag, let hash, let ranges) = request {
      waitingListens.insert(pending.id)
      var known = known(path, window, isExtended)
      if known.keys.count > limits.windowKeys { known = Known() }
      additions.since = known.since
      additions.keys = known.keys
      request = .listen(
        path, window, tag: tag, hash: known.hash.isEmpty ? hash : known.hash, ranges: known.ranges ?? ranges)
    }
    if case .watch(let path) = request {
      waitingListens.insert(pending.id)
      additions.since = known(path, nil, isExtended).since
    }
    if isExtended {
      additions.grace = pending.grace
      additions.write = pending.number.map { write in
        TreeAdditions.Number(
          number: write, acknowledged: acknowledged, isResend: pending.wasSent && hasEndedWrite)
      }
    }
    unanswered[pending.id]?.wasSent = true
    let message = request.message(number, isExtended ? additions : TreeAdditions())
    return [.send(TreeFraming.frames(of: message, limits: limits))]
  }

  /// The owner has the answers to all writes up to this number.
  private var acknowledged: Int64 {
    let first = writeOrder.first.flatMap { unanswered[$0]?.number } ?? lastNumber + 1
    return min(first, heldNumbers.min() ?? first) - 1
  }

  /// Sends the writes that wait, in their order, as many as may be on their way.
  private mutating func transmitWrites(_ now: Instant) -> [Action] {
    var actions: [Action] = []
    while !isExtended || writeOrder.inFlight < Self.numberedWritesInFlight,
      let id = writeOrder.next(where: { unanswered[$0] != nil }), let pending = unanswered[id]
    {
      actions += transmit(pending, now)
    }
    return actions
  }

  /// Takes one text frame.
  ///
  /// - Parameter known: what is known of a listener's value; asked when listens are sent again.
  package mutating func receive(
    _ frame: String, now: Instant, knowing known: Knowledge = { _, _, _ in Known() }
  ) -> [Action] {
    guard phase == .greeting || phase == .open else { return [] }
    do {
      guard let message = try reader.read(frame) else { return [] }
      switch try TreeEnvelope.read(message, limits: limits) {
      case .control(let type, let data): return try control(type, data, now, known)
      case .data(let data): return try receive(data, now)
      }
    } catch {
      phase = .closed
      return [.close(error)]
    }
  }

  private mutating func control(
    _ type: String, _ data: JSONValue, _ now: Instant, _ known: Knowledge
  ) throws(TreeWireError) -> [Action] {
    switch type {
    case "h":
      guard phase == .greeting, let milliseconds = data["ts"]?.int, let host = data["h"]?.string else {
        throw TreeWireError(.malformedMessage, "a greeting that cannot stand here")
      }
      phase = .open
      isExtended = data["x"]?["resume"]?.bool == true && data["x"]?["writes"]?.bool == true
      offersWatches = isExtended && data["x"]?["watch"]?.bool == true
      let session = data["s"]?.string ?? ""
      return [.connected(milliseconds: milliseconds, host: host, session: session)] + restore(now, known)
    case "v": return data.string.map { [.position($0)] } ?? []
    case "s":
      phase = .closed
      return [.shutDown(reason: data.string ?? "")]
    case "r":
      phase = .closed
      return [.reset(host: data.string ?? "")]
    case "e": return [.push(.debug(data.string ?? data.description))]
    // `o` (a ping's answer) and what a newer server may send.
    default: return []
    }
  }

  /// Sends again what outlived the last connection.
  private mutating func restore(_ now: Instant, _ known: Knowledge) -> [Action] {
    var actions: [Action] = []
    // Of a server that has no watches the owner asks for values.
    if offersWatches != true { listens = listens.filter { !$0.value.isAddition } }
    if let credential { actions += transmit(Pending(id: 0, request: credential), now) }
    for (id, request) in listens.sorted(by: { $0.key < $1.key }) {
      actions += transmit(Pending(id: id, request: request), now, known)
    }
    actions += transmitWrites(now)
    for rank in 1...2 {
      let due = unanswered.values.filter { Self.rank($0.request) == rank }
      for pending in due.sorted(by: { $0.id < $1.id }) { actions += transmit(pending, now) }
    }
    return actions + release()
  }

  /// Writes, then reads, then deferred writes.
  private static func rank(_ request: TreeRequest) -> Int {
    switch request {
    case .put, .merge: 0
    case .get: 1
    case .deferredPut, .deferredMerge, .cancelDeferred: 2
    case .listen, .unlisten, .watch, .unwatch, .authenticate, .unauthenticate, .attest, .stats: 3
    }
  }

  private mutating func receive(_ data: JSONObject, _ now: Instant) throws(TreeWireError) -> [Action] {
    guard phase == .open else { throw TreeWireError(.malformedMessage, "data before the greeting") }
    if let action = data["a"]?.string {
      let push = try TreePush(action: action, body: data["b"]?.object ?? [:], limits: treeLimits)
      switch push {
      case .cancelled(let path, let window, _)?: listens = listens.filter { !Self.isListen($0.value, path, window) }
      case .watched(let path, .ended)?: listens = listens.filter { !Self.isListen($0.value, path, nil) }
      default: break
      }
      return push.map { [.push($0)] } ?? []
    }
    guard let number = data["r"]?.int, let body = data["b"]?.object, let status = body["s"]?.string else {
      throw TreeWireError(.malformedMessage, "neither a push nor an answer")
    }
    guard let pending = open.removeValue(forKey: number) else {
      throw TreeWireError(.malformedMessage, "an answer to request \(number), which is not open")
    }
    return settle(pending, TreeAnswer(status: status, data: body["d"] ?? .null, revision: body["v"]?.string), now)
  }

  private mutating func settle(_ pending: Pending, _ answer: TreeAnswer, _ now: Instant) -> [Action] {
    if pending.number != nil {
      // Dropped by its owner meanwhile.
      let isDropped = unanswered.removeValue(forKey: pending.id) == nil
      writeOrder.answered { unanswered[$0] != nil }
      if isDropped { return transmitWrites(now) }
      hasEndedWrite = true
    }
    unanswered[pending.id] = nil
    switch pending.request {
    case .put, .merge:
      heldBack.append((pending.id, answer))
      if let number = pending.number { heldNumbers.append(number) }
      return release() + transmitWrites(now)
    case .listen, .watch:
      waitingListens.remove(pending.id)
      if !answer.isOK { listens[pending.id] = nil }
      return [.answered(pending.id, answer)] + release()
    case .authenticate:
      if !answer.isOK, credential == pending.request { credential = nil }
      return [.answered(pending.id, answer)]
    case .unlisten, .unwatch, .get, .deferredPut, .deferredMerge, .cancelDeferred, .unauthenticate, .attest, .stats:
      return [.answered(pending.id, answer)]
    }
  }

  private mutating func release() -> [Action] {
    guard waitingListens.isEmpty else { return [] }
    return takeHeldBack()
  }

  /// When `passed` should be called; nil without a connection.
  package var deadline: Instant? { phase == .open ? lastSent + keepAlive : nil }

  /// Time has passed: sends a keep-alive after a silence.
  package mutating func passed(now: Instant) -> [Action] {
    guard let deadline, now >= deadline else { return [] }
    lastSent = now
    return [.send([TreeFraming.keepAlive])]
  }

  /// Requests that the server has not answered, in their order.
  package var unansweredCount: Int { unanswered.count }
}
