internal import MartletAccess
internal import MartletRuntime
internal import MartletTreeRules

/// What the client of one connection uses of what its caller may use. Confined to its loop.
struct PeerUse {
  let loop: any Loop
  let pauses: ReadingPauses
  let callers: CallerMeters
  let tally: LoopTally
  let audit: Audit
  let peer: Peer

  /// Spends what one request or message uses. It has no estimated cost, and counts as 1.
  ///
  /// - Throws: the refusal, counted and logged, with nothing spent.
  func spend(bytes: Int, by identity: Identity) throws(QuotaRefusal) {
    guard callers.countsOperations else { return }
    do {
      try callers.spend(QuotaUse(operations: 1, bytes: bytes, cost: 1), identity, over: peer, at: loop.now)
    } catch {
      note(error, identity)
      throw error
    }
  }

  /// Counts a connection or a subscription until the hold is let go; nil where none are counted.
  ///
  /// - Throws: the refusal, counted and logged.
  func hold(_ resource: QuotaResource, by identity: Identity) throws(QuotaRefusal) -> CallerHold? {
    do {
      return try callers.hold(resource, identity, over: peer, at: loop.now)
    } catch {
      note(error, identity)
      throw error
    }
  }

  private func note(_ refusal: QuotaRefusal, _ identity: Identity) {
    tally.addLimited(refusal.limit)
    audit.limited(identity, peer, limit: refusal.limit)
  }

  // MARK: The audit log

  /// Writes what rules refused of a read or a write of the tree.
  func note<Value>(_ result: Result<Value, TreeRefusal>, _ identity: Identity) {
    if case .failure(let refusal) = result { note(refusal, identity) }
  }

  /// The same for what was refused.
  func note(_ refusal: TreeRefusal, _ identity: Identity) {
    switch refusal {
    case .denied(let denial): audit.denied(denial.rule ?? "no .\(denial.kind.rawValue) rule", identity, peer)
    case .forbidden(_, let model): audit.denied("the rules of the model \(model)", identity, peer)
    case .unauthenticated, .stale, .invalid, .unknownNamespace, .store, .repeated: break
    }
  }

  /// Writes that what a caller was admitted to has ended.
  func noteWithdrawal(_ identity: Identity, reason: String) { audit.withdrawn(identity, peer, reason: reason) }
}
