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

  /// A request that was not answered, or a listener that runs.
  private struct Pending: Sendable {
    var id: Int64
    var request: TreeRequest
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
  private var unanswered: [Pending] = []
  private var credential: TreeRequest?
  private var waitingListens: Set<Int64> = []
  private var heldBack: [(Int64, TreeAnswer)] = []
  private var lastSent = Instant.zero

  /// After which silence a keep-alive is due: proxies drop silent connections after a minute.
  package var keepAlive: Duration = .seconds(45)

  package init(limits: TreeWireLimits = TreeWireLimits(), treeLimits: TreeLimits = TreeLimits()) {
    self.limits = limits
    self.treeLimits = treeLimits
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
    unanswered.removeAll { answered.contains($0.id) }
  }

  /// Answers that were held back when the connection was lost; they hold.
  package mutating func takeHeldBack() -> [Action] {
    defer { heldBack = [] }
    return heldBack.map { .answered($0.0, $0.1) }
  }

  /// Sends a request, or keeps it until the server is there.
  ///
  /// - Parameter id: names it in the answer; greater than that of every earlier request.
  package mutating func request(_ id: Int64, _ request: TreeRequest, now: Instant) -> [Action] {
    switch request {
    case .listen: listens[id] = request
    case .unlisten(let path, let window, _):
      listens = listens.filter { !Self.isListen($0.value, path, window) }
      // Without a connection there is nothing to end.
      if phase != .open { return [.answered(id, .ok)] }
    case .authenticate: credential = request
    case .unauthenticate: credential = nil
    case .put, .merge, .get, .deferredPut, .deferredMerge, .cancelDeferred:
      unanswered.append(Pending(id: id, request: request))
    case .attest, .stats: break
    }
    return phase == .open ? transmit(Pending(id: id, request: request), now) : []
  }

  private static func isListen(_ request: TreeRequest, _ path: TreePath, _ window: Window) -> Bool {
    if case .listen(path, window, _, _, _) = request { true } else { false }
  }

  private mutating func transmit(_ pending: Pending, _ now: Instant) -> [Action] {
    let number = nextNumber
    nextNumber += 1
    open[number] = pending
    if case .listen = pending.request { waitingListens.insert(pending.id) }
    lastSent = now
    return [.send(TreeFraming.frames(of: pending.request.message(number), limits: limits))]
  }

  /// Takes one text frame.
  ///
  /// - Parameter hash: of the value that is cached for a listener; empty without one. Asked when listens are sent
  ///   again.
  package mutating func receive(
    _ frame: String, now: Instant, hash: (TreePath, Window) -> String = { _, _ in "" }
  ) -> [Action] {
    guard phase == .greeting || phase == .open else { return [] }
    do {
      guard let message = try reader.read(frame) else { return [] }
      switch try TreeEnvelope.read(message, limits: limits) {
      case .control(let type, let data): return try control(type, data, now, hash)
      case .data(let data): return try receive(data)
      }
    } catch {
      phase = .closed
      return [.close(error)]
    }
  }

  private mutating func control(
    _ type: String, _ data: JSONValue, _ now: Instant, _ hash: (TreePath, Window) -> String
  ) throws(TreeWireError) -> [Action] {
    switch type {
    case "h":
      guard phase == .greeting, let milliseconds = data["ts"]?.int, let host = data["h"]?.string else {
        throw TreeWireError(.malformedMessage, "a greeting that cannot stand here")
      }
      phase = .open
      let session = data["s"]?.string ?? ""
      return [.connected(milliseconds: milliseconds, host: host, session: session)] + restore(now, hash)
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
  private mutating func restore(_ now: Instant, _ hash: (TreePath, Window) -> String) -> [Action] {
    var actions: [Action] = []
    if let credential { actions += transmit(Pending(id: 0, request: credential), now) }
    for (id, request) in listens.sorted(by: { $0.key < $1.key }) {
      guard case .listen(let path, let window, let tag, _, _) = request else { continue }
      let again = TreeRequest.listen(path, window, tag: tag, hash: hash(path, window))
      actions += transmit(Pending(id: id, request: again), now)
    }
    for pending in unanswered.filter({ Self.rank($0.request) == 0 }) { actions += transmit(pending, now) }
    for pending in unanswered.filter({ Self.rank($0.request) == 1 }) { actions += transmit(pending, now) }
    for pending in unanswered.filter({ Self.rank($0.request) == 2 }) { actions += transmit(pending, now) }
    return actions
  }

  /// Writes, then reads, then deferred writes.
  private static func rank(_ request: TreeRequest) -> Int {
    switch request {
    case .put, .merge: 0
    case .get: 1
    case .deferredPut, .deferredMerge, .cancelDeferred: 2
    case .listen, .unlisten, .authenticate, .unauthenticate, .attest, .stats: 3
    }
  }

  private mutating func receive(_ data: JSONObject) throws(TreeWireError) -> [Action] {
    guard phase == .open else { throw TreeWireError(.malformedMessage, "data before the greeting") }
    if let action = data["a"]?.string {
      let push = try TreePush(action: action, body: data["b"]?.object ?? [:], limits: treeLimits)
      if case .cancelled(let path, let window)? = push {
        listens = listens.filter { !Self.isListen($0.value, path, window) }
      }
      return push.map { [.push($0)] } ?? []
    }
    guard let number = data["r"]?.int, let body = data["b"]?.object, let status = body["s"]?.string else {
      throw TreeWireError(.malformedMessage, "neither a push nor an answer")
    }
    guard let pending = open.removeValue(forKey: number) else {
      throw TreeWireError(.malformedMessage, "an answer to request \(number), which is not open")
    }
    return settle(pending, TreeAnswer(status: status, data: body["d"] ?? .null))
  }

  private mutating func settle(_ pending: Pending, _ answer: TreeAnswer) -> [Action] {
    unanswered.removeAll { $0.id == pending.id }
    switch pending.request {
    case .put, .merge:
      heldBack.append((pending.id, answer))
      return release()
    case .listen:
      waitingListens.remove(pending.id)
      if !answer.isOK { listens[pending.id] = nil }
      return [.answered(pending.id, answer)] + release()
    case .authenticate:
      if !answer.isOK, credential == pending.request { credential = nil }
      return [.answered(pending.id, answer)]
    case .unlisten, .get, .deferredPut, .deferredMerge, .cancelDeferred, .unauthenticate, .attest, .stats:
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
