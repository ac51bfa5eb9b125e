internal import MartletAccess
internal import MartletRuntime
internal import MartletVocabulary

/// The quotas of a server's callers, for all its loops. From any thread.
final class CallerMeters: Sendable {
  private let quotas: Lock<CallerQuotas>
  let connection: QuotaAllowance
  let burst: Duration
  /// Whether operations are counted, so that a server without quotas does nothing for them.
  let countsOperations: Bool
  /// Whether the cost of operations has to be known.
  let countsCost: Bool
  private let countsHolds: Bool

  init(_ limits: ServerLimits.Callers) {
    connection = QuotaAllowance(
      operationsPerSecond: limits.operationsPerSecondPerConnection,
      bytesPerSecond: limits.bytesPerSecondPerConnection, costPerSecond: limits.costPerSecondPerConnection)
    let identity = QuotaAllowance(
      connections: limits.connectionsPerIdentity, subscriptions: limits.subscriptionsPerIdentity,
      operationsPerSecond: limits.operationsPerSecondPerIdentity, bytesPerSecond: limits.bytesPerSecondPerIdentity,
      costPerSecond: limits.costPerSecondPerIdentity)
    let address = QuotaAllowance(
      connections: limits.connectionsPerAddress, subscriptions: limits.subscriptionsPerAddress,
      operationsPerSecond: limits.operationsPerSecondPerAddress, bytesPerSecond: limits.bytesPerSecondPerAddress,
      costPerSecond: limits.costPerSecondPerAddress)
    burst = limits.burst
    quotas = Lock(CallerQuotas(identity: identity, address: address, burst: limits.burst, capacity: limits.counted))
    let all = [connection, identity, address]
    countsOperations = all.contains {
      $0.operationsPerSecond != nil || $0.bytesPerSecond != nil || $0.costPerSecond != nil
    }
    countsCost = all.contains { $0.costPerSecond != nil }
    countsHolds = all.contains { $0.connections != nil || $0.subscriptions != nil }
  }

  /// Spends what an operation uses.
  ///
  /// - Throws: the refusal, with nothing spent.
  func spend(_ use: QuotaUse, _ identity: Identity, over peer: Peer, at now: Instant) throws(QuotaRefusal) {
    try judgeConnection(use, peer, at: now)
    try quotas.withLock { quotas throws(QuotaRefusal) in
      try quotas.spend(use, by: Self.parties(identity, peer), at: now)
    }
    peer.meters.spend(use, connection, at: now)
  }

  /// Looks whether as much may be spent.
  ///
  /// - Throws: the refusal.
  func judge(_ use: QuotaUse, _ identity: Identity, over peer: Peer, at now: Instant) throws(QuotaRefusal) {
    try judgeConnection(use, peer, at: now)
    try quotas.withLock { quotas throws(QuotaRefusal) in
      try quotas.judge(use, by: Self.parties(identity, peer), at: now)
    }
  }

  private func judgeConnection(_ use: QuotaUse, _ peer: Peer, at now: Instant) throws(QuotaRefusal) {
    guard let (resource, wait) = peer.meters.refusal(of: use, connection, burst: burst, at: now) else { return }
    throw QuotaRefusal(.connection, resource, retryAfter: wait)
  }

  /// Counts a connection or a subscription until the hold is let go; nil where none are counted.
  func hold(
    _ resource: QuotaResource, _ identity: Identity, over peer: Peer, at now: Instant
  ) throws(QuotaRefusal) -> CallerHold? {
    guard countsHolds else { return nil }
    let hold = try quotas.withLock { quotas throws(QuotaRefusal) in
      try quotas.hold(resource, by: Self.parties(identity, peer), at: now)
    }
    return CallerHold(hold, self)
  }

  fileprivate func release(_ hold: CallerQuotas.Hold) { quotas.withLock { $0.release(hold) } }

  private static func parties(_ identity: Identity, _ peer: Peer) -> [CallerQuotas.Party] {
    var parties: [CallerQuotas.Party] = []
    // Guests have no name: they are counted by their address.
    let name = identity.writer
    if !name.isEmpty { parties.append(CallerQuotas.Party(.identity, Array(name.utf8))) }
    if !peer.address.isEmpty { parties.append(CallerQuotas.Party(.address, peer.address)) }
    return parties
  }
}

/// One connection or subscription that is counted for its caller, until it is let go.
final class CallerHold {
  private let hold: CallerQuotas.Hold
  private let meters: CallerMeters

  init(_ hold: CallerQuotas.Hold, _ meters: CallerMeters) {
    self.hold = hold
    self.meters = meters
  }

  deinit { meters.release(hold) }
}
