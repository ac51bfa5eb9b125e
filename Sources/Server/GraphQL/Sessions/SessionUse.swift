internal import MartletAccess
internal import MartletGraphQLWire
internal import MartletRuntime
internal import MartletWire

/// What one session uses of what its callers may use. Confined to its loop.
final class SessionUse {
  /// The client's end of the connection.
  let peer: Peer
  /// Bytes of the message that is being handled.
  var messageBytes = 0
  /// Whether the message that is being handled asked for more than its caller may use.
  var isExceeded = false
  private var connection: CallerHold?
  private var subscriptions: [Int: CallerHold] = [:]

  init(_ peer: Peer) {
    self.peer = peer
  }

  // MARK: Rates

  /// The refusal of an operation whose caller has used what it may use, before its document is read.
  func judge(_ caller: Caller, on link: SessionLink) -> Refusal? {
    guard Self.isCharged(on: link) else { return nil }
    return noted(link.service.judge(bytes: messageBytes, caller, over: peer))
  }

  /// Spends what an operation uses; the refusal where its caller may not.
  func charge(_ prepared: PreparedOperation, _ caller: Caller, on link: SessionLink) -> Refusal? {
    guard Self.isCharged(on: link) else { return nil }
    return noted(link.service.charge(prepared, bytes: messageBytes, caller, over: peer))
  }

  /// Spends what an operation used that cannot be run.
  func charge(_ refusal: Refusal, _ caller: Caller, on link: SessionLink) {
    if Self.isCharged(on: link) { link.service.charge(refusal, bytes: messageBytes, caller, over: peer) }
  }

  /// What is posted to a shared stream was charged with its request.
  private static func isCharged(on link: SessionLink) -> Bool { link.stream?.token == nil }

  private func noted(_ refusal: Refusal?) -> Refusal? {
    if refusal != nil { isExceeded = true }
    return refusal
  }

  // MARK: Connections and subscriptions

  /// Counts a socket for its caller, until the session ends. Returns why it may not be.
  func connect(_ caller: Caller, _ service: GraphQLService) -> QuotaRefusal? {
    guard connection == nil else { return nil }
    do {
      connection = try service.node.callers.hold(.connections, caller.identity, over: peer, at: service.loop.now)
      return nil
    } catch {
      note(error, caller, service)
      return error
    }
  }

  /// Counts a subscription for its caller; `keep` it when it has begun.
  func subscribe(_ caller: Caller, _ service: GraphQLService) throws(QuotaRefusal) -> CallerHold? {
    do {
      return try service.node.callers.hold(.subscriptions, caller.identity, over: peer, at: service.loop.now)
    } catch {
      note(error, caller, service)
      throw error
    }
  }

  private func note(_ refusal: QuotaRefusal, _ caller: Caller, _ service: GraphQLService) {
    service.counters.addLimited(refusal.limit)
    service.node.audit.limited(caller.identity, peer, limit: refusal.limit)
  }

  func keep(_ hold: CallerHold?, for number: Int) { subscriptions[number] = hold }

  /// Lets go of what has ended.
  func retain(_ operations: NumberedTable<SessionOperation>) {
    guard subscriptions.count > operations.count else { return }
    subscriptions = subscriptions.filter { operations[$0.key] != nil }
  }

  /// The session is over.
  func end() {
    connection = nil
    subscriptions = [:]
  }
}

extension QuotaRefusal {
  /// Refuses a connection as its dialect does; only one has a code for it.
  func refuse(_ machine: inout any SubscriptionServerMachine, _ actions: inout [SubscriptionServerAction]) {
    let reason = "Too many connections (\(limit))"
    if let code = machine.dialect?.tooManyCode {
      machine.end(code, reason, actions: &actions)
    } else {
      machine.refuse(reason, actions: &actions)
    }
  }
}
