package import MartletChangeFeed
internal import MartletJSON
package import MartletRuntime
package import MartletStore
package import MartletVocabulary

/// One log as one loop sees it: the index of subscriptions, the offset they have been served up to, the deliveries
/// under way and the members that catch up.
///
/// Batches arrive in commit order. Each change is matched and each group's payload encoded once, in slices; members are
/// then written to in slices, all events of a member together, and every connection sends once when the turn ends. A member
/// whose connection lags is skipped: it reads on from its own offset when the connection has drained.
///
/// Confined to its loop.
package final class Feed {
  package let store: Store
  package let loop: any Loop
  package let limits: FeedLimits
  let counters: LoopTally
  /// Where the store delivers batches and the completions of this loop's reads and writes.
  package let destination: FeedDestination
  /// The last offset that has been received here, and matched or queued for it; a new member begins after it.
  package internal(set) var applied: Int64 = 0
  var index: SubscriptionIndex<Member>
  /// The group under each name of the index.
  var groups: [GroupID: any FeedGroup] = [:]
  /// Changes whose evaluation waits for reads or user code, in order; the first is under way.
  var evaluating: [GroupID: [Change]] = [:]
  let evaluations: SharedEvaluations
  var deliveries = DeliveryQueue()
  var isDelivering = false
  /// Whether deliveries continue in the next turn.
  var isContinued = false
  var budget = DeliveryBudget()
  private var commitTimes = CommitTimes()
  /// Members that read on from their own offsets.
  package var membersCatchingUp: Int { readers.values.reduce(0) { $0 + $1.memberCount } }
  /// The most connections that were written to in one turn.
  package internal(set) var largestTurn = 0
  /// Called with each batch in its order, once the feed has matched it.
  package var onBatch: (ChangeBatch) -> Void = { _ in }
  /// Called once for each offset at which the log turns out to be damaged.
  package var onDamage: (LogDamage) -> Void = { _ in }
  private var lastDamage: Int64?
  /// The writes that the loop has read in this turn.
  private(set) lazy var writes = TurnWrites(store, on: loop, destination)
  /// The share of a turn that catch-ups get.
  var catchUps = CatchUpTurn()
  /// The most work that catch-ups did in one turn.
  package var largestCatchUpTurn: Int { catchUps.largest }
  /// The subscribers with members that catch up.
  var readers: [ObjectIdentifier: CatchUpReader] = [:]
  private(set) lazy var pages = LogPageReader(self)
  /// Batches that have not been matched whole.
  var matching = MatchingQueue()
  /// Whether matching continues in the next turn.
  var isMatchingContinued = false
  /// The most work that matching did in one turn.
  package var largestMatchingTurn: Int { matching.largest }
  var found: [SubscriptionIndex<Member>.Match] = []
  var matches = TransactionMatches()
  var writer = JSONWriter()

  /// A feed of a store's log. It follows the log from `start` on.
  ///
  /// - Parameter evaluations: shared with the feeds of the same log on other loops.
  package init(
    _ store: Store, on loop: any Loop, _ counters: LoopTally, limits: FeedLimits = FeedLimits(),
    sharing evaluations: SharedEvaluations = SharedEvaluations()
  ) {
    self.evaluations = evaluations
    self.store = store
    self.loop = loop
    self.counters = counters
    self.limits = limits
    destination = FeedDestination(store, on: loop)
    index = SubscriptionIndex(limits: limits.index)
  }

  /// Begins to follow the log. On the loop, before the first member.
  package func start() {
    destination.attach(LoopBound(self, on: loop))
    applied = store.register(destination).head
  }

  /// Ends following.
  package func stop() {
    store.unregister(destination)
    destination.detach()
    matching.removeAll()
  }

  /// This feed, for closures that come back to its loop.
  var bound: LoopBound<Feed> { LoopBound(self, on: loop) }

  // MARK: Offsets

  /// Everything up to here has been written to every member that is not catching up.
  package var settled: Int64 { min(deliveries.settled ?? applied, matching.before ?? applied) }

  /// The cursor of `applied`.
  package var cursor: Cursor { cursor(at: applied) }

  func cursor(at offset: Int64) -> Cursor { Cursor(term: store.lineage.currentTerm, offset: offset) }

  /// The offset before the oldest change that the log has.
  package var beforeOldest: Int64 { store.position.firstRetained - 1 }

  /// Whether a client that has seen everything up to `cursor` can continue there.
  package func judge(_ cursor: Cursor) -> Resumption {
    let position = store.position
    return store.lineage.judge(cursor, firstKept: position.firstRetained, head: position.head)
  }

  /// What the next step of a member that catches up rests on.
  var situation: CatchUp.Situation {
    let position = store.position
    return CatchUp.Situation(
      lineage: store.lineage, firstKept: position.firstRetained, head: max(position.head, applied),
      applied: applied, ringFirst: store.recent.firstOffset)
  }

  /// The log could not be read for members that catch up.
  func report(_ damage: LogDamage) {
    guard damage.offset != lastDamage else { return }
    lastDamage = damage.offset
    counters.add(.logDamage)
    onDamage(damage)
  }

  // MARK: Batches

  /// Takes what one group commit or one list of reads brought. Completions run first, so that the answer to a write
  /// leaves ahead of the fan-out it causes, both in the same turn.
  package func receive(_ delivery: StoreDelivery) {
    delivery.finish()
    guard let batch = delivery.batch, batch.lastOffset > applied else { return }
    if let committed = delivery.committed {
      commitTimes.note(committed, from: batch.firstOffset, to: batch.lastOffset)
    }
    apply(batch)
  }

  func event(_ change: Change, _ payload: [UInt8], for group: any FeedGroup) -> FeedEvent {
    let event = group.event(payload, at: cursor(at: change.offset), endsTransaction: change.endsTransaction)
    event.committed = commitTimes.time(of: change.offset)
    return event
  }
}

extension Feed: DeliveryReceiver {
  func add(_ write: Store.Submission) {
    writes.add(write)
  }

  func countRefusedWrite() {
    counters.add(.writesRefused)
  }
}

// MARK: The turn for catch-ups

extension Feed {
  /// Whether readers may work in this turn.
  var mayCatchUp: Bool { catchUps.mayWork(at: loop.now, limits.catchUpWorkPerTurn) }

  /// Continues a reader in a later turn.
  func continueLater(_ reader: CatchUpReader) {
    if catchUps.queue(reader) { askForCatchUps() }
  }

  private func askForCatchUps() {
    let bound = bound
    loop.execute { bound.value.continueCatchUps() }
  }

  /// Continues the readers that wait, as far as this turn has room for them.
  private func continueCatchUps() {
    let readers = catchUps.begin(at: loop.now, limits.catchUpWorkPerTurn)
    for (position, reader) in readers.enumerated() {
      guard mayCatchUp else {
        if catchUps.putBack(readers[position...]) { askForCatchUps() }
        return
      }
      reader.isQueued = false
      reader.pump()
    }
  }
}
