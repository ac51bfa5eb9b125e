package import MartletChangeFeed
internal import MartletJSON
package import MartletRuntime
package import MartletStore
package import MartletVocabulary

/// One log as one loop sees it: the index of subscriptions, the offset they have been served up to, the deliveries
/// under way and the members that catch up.
///
/// Batches arrive in commit order. Each change is matched and each group's payload encoded once, in slices; members
/// are then written to in slices, all events of a member together, and every connection sends once when the turn
/// ends. A member whose connection lags is skipped: it reads on from its own offset when the connection has drained.
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
  package private(set) var applied: Int64 = 0
  var index: SubscriptionIndex<Member>
  /// The group under each name of the index.
  var groups: [GroupID: any FeedGroup] = [:]
  let evaluations: GroupEvaluations
  var deliveries = DeliveryQueue()
  var isDelivering = false
  /// Whether deliveries continue in the next turn.
  var isContinued = false
  var budget = DeliveryBudget()
  private var commitTimes: CommitTimes
  /// Members that read on from their own offsets.
  package var membersCatchingUp: Int { readers.values.reduce(0) { $0 + $1.memberCount } }
  /// The most connections that were written to in one turn.
  package internal(set) var largestTurn = 0
  /// Called with each batch in its order, once the feed has matched it.
  package var onBatch: (ChangeBatch) -> Void = { _ in }
  /// The writes that the loop has read in this turn.
  private(set) lazy var writes = TurnWrites(store, on: loop, destination)
  let catchUps: CatchUpSchedule
  /// Events for members of one group that catch up one after the other.
  var caughtUpEvents: CatchUpEvents
  /// The most work that catch-ups did in one turn.
  package var largestCatchUpTurn: Int { catchUps.largest }
  /// The subscribers with members that catch up.
  var readers: [ObjectIdentifier: CatchUpReader] = [:]
  private(set) lazy var pages = LogPageReader(self)
  package private(set) var matcher = BatchMatcher()
  private var found: [SubscriptionIndex<Member>.Match] = []
  private var writer = JSONWriter()

  /// A feed of a store's log. It follows the log from `start` on.
  ///
  /// - Parameter evaluations: shared with the feeds of the same log on other loops.
  package init(
    _ store: Store, on loop: any Loop, _ counters: LoopTally, limits: FeedLimits = FeedLimits(),
    sharing evaluations: SharedEvaluations = SharedEvaluations()
  ) {
    self.evaluations = GroupEvaluations(evaluations, on: loop, counters)
    catchUps = CatchUpSchedule(on: loop, workPerTurn: limits.catchUpWorkPerTurn)
    caughtUpEvents = CatchUpEvents(bytes: limits.catchUpEventBytes)
    self.store = store
    self.loop = loop
    self.counters = counters
    self.limits = limits
    commitTimes = CommitTimes(groups: limits.measuredGroups)
    destination = FeedDestination(store, on: loop)
    index = SubscriptionIndex(limits: limits.index)
    self.evaluations.onPayload = { [weak self] change, payload, group, id in
      self?.deliver(change, payload, group, id)
    }
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
    matcher.removeAll()
  }

  /// This feed, for closures that come back to its loop.
  var bound: LoopBound<Feed> { LoopBound(self, on: loop) }

  // MARK: Offsets

  /// Everything up to here has been written to every member that is not catching up.
  package var settled: Int64 { min(deliveries.settled ?? applied, matcher.before ?? applied) }

  /// The cursor of `applied`.
  package var cursor: Cursor { cursor(at: applied) }

  func cursor(at offset: Int64) -> Cursor { Cursor(term: store.lineage.currentTerm, offset: offset) }

  /// The offset before the oldest change that the log has.
  package var beforeOldest: Int64 { store.position.firstRetained - 1 }

  /// Whether a client that has seen everything up to `cursor` can continue there.
  package func judge(_ cursor: Cursor) -> Resumption {
    let position = store.position
    return store.lineage.judge(cursor, firstKept: position.firstRetained, head: store.reachedOffset)
  }

  /// What the next step of a member that catches up rests on.
  var situation: CatchUp.Situation {
    let position = store.position
    return CatchUp.Situation(
      lineage: store.lineage, firstKept: position.firstRetained, head: store.reachedOffset,
      applied: applied, ringFirst: store.recent.firstOffset)
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

  /// Takes a batch. Members that join from now on begin after it.
  private func apply(_ batch: ChangeBatch) {
    counters.add(.batches)
    counters.add(.changes, batch.changes.count)
    matcher.append(batch, before: applied)
    applied = batch.lastOffset
    if !matcher.isContinued { match() }
  }

  /// Matches and encodes as much as the turn has room for, and writes to members.
  private func match(isOtherTurn: Bool = false) {
    if isOtherTurn { matcher.renew(loop.now, limits.matchingWorkPerTurn) }
    let evaluations = index.counters.evaluations
    while let step = matcher.next(at: loop.now, limits.matchingWorkPerTurn, find) {
      switch step {
      case .event(let change, let group, let before): encode(change, group, before)
      case .matched(let batch): onBatch(batch)
      case .searched: break
      }
    }
    counters.add(.predicateEvaluations, index.counters.evaluations - evaluations)
    deliver()
    if matcher.continues { loop.execute { [bound] in bound.value.match(isOtherTurn: true) } }
  }

  private func find(_ change: Change, _ add: (GroupID) -> Void) {
    found.removeAll(keepingCapacity: true)
    index.match(change, into: &found)
    for match in found where groups[match.group]?.accepts(change, match.effect) == true { add(match.group) }
  }

  /// Encodes a group's event for a change and queues it, unless it comes later, from an evaluation that waits.
  private func encode(_ change: Change, _ id: GroupID, _ before: Int64) {
    guard let group = groups[id] else { return }
    if !evaluations.isEvaluating(id) {
      writer = JSONWriter(reusing: writer.bytes)
      if group.encode(change, into: &writer) {
        counters.add(.payloadEncodings)
        let event = event(change, writer.bytes, for: group)
        return deliveries.append(event, to: id, count: index.members(of: id).count, before: before)
      }
    }
    if let key = index.key(of: id) { evaluations.append(change, for: group, id, key) }
  }

  /// Delivers an event whose payload took reads or user code.
  private func deliver(_ change: Change, _ payload: [UInt8], _ group: any FeedGroup, _ id: GroupID) {
    let count = index.members(of: id).count
    deliveries.append(event(change, payload, for: group), to: id, count: count, before: change.offset - 1)
    deliver()
  }

  func event(_ change: Change, _ payload: [UInt8], for group: any FeedGroup) -> FeedEvent {
    let event = group.event(payload, at: cursor(at: change.offset), endsTransaction: change.endsTransaction)
    event.committed = commitTimes.time(of: change.offset)
    return event
  }
}

extension Feed: DeliveryReceiver {
  func add(_ write: StoreSubmission) {
    writes.add(write)
  }

  func countRefusedWrite() {
    counters.add(.writesRefused)
  }
}
