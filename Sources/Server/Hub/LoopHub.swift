internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletLoop
internal import MartletModelSchema
package import MartletRuntime
internal import MartletSockets
package import MartletStore
internal import MartletVocabulary
internal import MartletWireProtocols

/// One loop's share of the server: its index of subscriptions, its place in the feed, its connections.
///
/// Batches arrive in commit order. Each change is matched and each group's payload encoded once; members are then
/// written to in slices, all events of a member together, and every connection sends once when the turn ends. A member
/// whose connection has fallen behind is skipped: it reads on from its own offset when the socket has drained.
///
/// Confined to its loop.
package final class LoopHub {
  package let node: ServerNode
  package let loop: any Loop
  let destination: HubDestination
  package let counters = LoopTally()
  /// The loop's connections.
  package let transport: LoopTransport
  let runner: OperationRunner
  var index: SubscriptionIndex<Member>
  /// The state of each live group, by its name in the index.
  var groups: [GroupID: GroupState] = [:]
  /// The last offset whose changes have been matched here; a new member begins behind it.
  package internal(set) var applied: Int64
  /// Everything up to here has been written to every member that is not catching up.
  package var settled: Int64 { deliveries.first.map { $0.before } ?? applied }
  var deliveries: [Delivery] = []
  private var isDelivering = false
  var pages = LogPages()
  /// Who waits for a page of the log, by the offset it begins behind.
  var logReaders: [Int64: [(GapReason?) -> Void]] = [:]
  /// Pages that bytes ended before their round size.
  var pageIsShort: [Int64: Bool] = [:]
  /// This hub, for closures that come back to its loop.
  var bound: LoopBound<LoopHub> { LoopBound(self, on: loop) }
  var sessions: [ObjectIdentifier: GraphQLSession] = [:]
  let metrics: MetricsCollector
  private var found: [GroupID] = []
  private var writer = JSONWriter()

  /// Events of one batch for one group, on their way to its members.
  struct Delivery {
    let group: GroupID
    var events: [EncodedEvent]
    /// The offset before this delivery's batch.
    let before: Int64
    /// Members below this position have not been visited.
    var remaining: Int
  }

  package init(_ node: ServerNode, on loop: any Loop, metrics: MetricsCollector) {
    self.node = node
    self.loop = loop
    self.metrics = metrics
    destination = HubDestination(on: loop)
    var limits = SubscriptionIndexLimits()
    limits.scannedPredicates = node.limits.scannedFilters
    index = SubscriptionIndex(limits: limits)
    applied = 0
    runner = OperationRunner(node, on: loop)
    transport = LoopTransport(on: loop, node.limits, Admission(access: node.access), counters, node.log, node.calendar)
    let graphQL = GraphQLEndpoint(GraphQLService(self))
    transport.table = EndpointTable(graphQL.rows + StatusEndpoints(transport, metrics).rows)
  }

  /// Begins to follow the store. On the loop, before the first connection.
  package func start() {
    destination.attach(bound)
    metrics.follow(bound)
    applied = node.store.register(destination).head
  }

  /// Ends following.
  package func stop() {
    node.store.unregister(destination)
  }

  /// The place this loop's live members have been served up to.
  var cursor: Cursor { Cursor(term: node.store.lineage.currentTerm, offset: applied) }

  /// What the loop holds now.
  var gauges: MetricsCollector.Gauges {
    MetricsCollector.Gauges(
      connections: transport.connections.count, sessions: sessions.values.count { $0.socket != nil },
      streams: sessions.values.count { $0.stream != nil }, subscriptions: index.memberCount,
      groups: index.groupCount, scannedFilters: index.scannedPredicateCount,
      pendingBytes: transport.pendingBytes)
  }

  /// What the next step of a member that catches up rests on.
  var situation: CatchUp.Situation {
    let position = node.store.position
    return CatchUp.Situation(
      lineage: node.store.lineage, firstKept: position.firstRetained, head: max(position.head, applied),
      applied: applied, ringFirst: node.store.recent.firstOffset)
  }

  // MARK: The feed

  /// Takes what one group commit or one list of reads brought: the answers first, so that a writer's answer leaves
  /// ahead of the fan-out it causes, both in the same turn.
  func receive(_ delivery: StoreDelivery) {
    delivery.finish()
    if let batch = delivery.batch, batch.lastOffset > applied { apply(batch) }
  }

  /// Matches and encodes; members are written to before the turn ends, or over several turns when there are many.
  private func apply(_ batch: ChangeBatch) {
    counters.add(.batches)
    counters.add(.changes, batch.changes.count)
    let before = applied
    var events: [GroupID: Int] = [:]
    let firstNew = deliveries.count
    for change in batch.changes {
      found.removeAll(keepingCapacity: true)
      index.match(change, into: &found)
      for id in found {
        guard let group = groups[id] else { continue }
        guard let event = encode(change, for: group, id) else { continue }
        if let position = events[id] {
          deliveries[position].events.append(event)
        } else {
          events[id] = deliveries.count
          let count = index.members(of: id).count
          deliveries.append(Delivery(group: id, events: [event], before: before, remaining: count))
        }
      }
    }
    applied = batch.lastOffset
    if deliveries.count > firstNew || !deliveries.isEmpty { deliver() }
  }

  /// The group's payload for a change; nil when it comes later, from a run that has to wait.
  private func encode(_ change: Change, for group: GroupState, _ id: GroupID) -> EncodedEvent? {
    if let event = change.event, !group.passesTopicFilter(event) { return nil }
    if group.waiting.isEmpty {
      writer = JSONWriter(reusing: writer.bytes)
      if group.encode(change, into: &writer) {
        counters.add(.payloadEncodings)
        return event(change, payload: writer.bytes)
      }
    }
    evaluateLater(change, group, id)
    return nil
  }

  func event(_ change: Change, payload: [UInt8]) -> EncodedEvent {
    let cursor = Cursor(term: node.store.lineage.currentTerm, offset: change.offset)
    return EncodedEvent(cursor, payload: payload, endsTransaction: change.endsTransaction)
  }

  // MARK: Evaluation that waits

  /// Queues a change whose selection needs reads or user code; a group's events stay in order.
  private func evaluateLater(_ change: Change, _ group: GroupState, _ id: GroupID) {
    group.waiting.append(change)
    if group.waiting.count == 1 { evaluateNext(group, id) }
  }

  private func evaluateNext(_ group: GroupState, _ id: GroupID) {
    guard let change = group.waiting.first else { return }
    evaluate(change, group) { [weak self, weak group] payload in
      guard let self, let group else { return }
      group.waiting.removeFirst()
      let event = self.event(change, payload: payload)
      let count = self.index.members(of: id).count
      self.deliveries.append(
        Delivery(group: id, events: [event], before: change.offset - 1, remaining: count))
      self.deliver()
      self.evaluateNext(group, id)
    }
  }

  /// Executes the group's selection on a change.
  func evaluate(_ change: Change, _ group: GroupState, _ completion: @escaping ([UInt8]) -> Void) {
    counters.add(.payloadEncodings)
    let root: ResolvedValue =
      switch change.body {
      case .record(let record):
        .record(RecordValue(typeName: node.models.models[record.model].name, slots: record.image.values))
      case .event(let event): .value(event.payload)
      }
    let scope = RequestScope(destination: destination)
    guard let plan = group.plan(in: node.schema) else {
      preconditionFailure("a subscription's canonical document can be planned again")
    }
    runner.run(plan, coerced: group.variables, root: root, scope: scope) { completion($0.bytes) }
  }

  // MARK: Delivery

  /// Writes queued events to members, at most `deliveriesPerTurn` a turn.
  func deliver() {
    if isDelivering { return }
    isDelivering = true
    defer { isDelivering = false }
    var budget = node.limits.deliveriesPerTurn
    while budget > 0, !deliveries.isEmpty {
      budget -= deliverSlice(budget)
      if deliveries[0].remaining == 0 { deliveries.removeFirst() }
    }
    if !deliveries.isEmpty {
      let hub = LoopBound(self, on: loop)
      loop.execute { hub.value.deliver() }
    }
  }

  /// Serves members of the first delivery from the end downwards, so that removals in between skip nobody; a member
  /// that moves into a hole is met twice and its offset tells.
  private func deliverSlice(_ budget: Int) -> Int {
    let group = deliveries[0].group
    let members = index.members(of: group)
    var position = min(deliveries[0].remaining, members.count)
    var used = 0
    while position > 0, used < budget {
      position -= 1
      used += write(deliveries[0].events, to: members[position])
    }
    deliveries[0].remaining = position
    return max(used, 1)
  }

  /// Appends frames for all events the member has not had. Nothing is allocated.
  private func write(_ events: [EncodedEvent], to member: Member) -> Int {
    if member.isCatchingUp { return 1 }
    // By position: without optimisation an iterator allocates for each element, and tests count that.
    for position in events.indices {
      let event = events[position]
      guard event.offset > member.since else { continue }
      member.session.write(event, to: member)
      member.since = event.offset
      counters.add(.deliveries)
    }
    member.session.checkBacklog()
    return events.count
  }
}

/// A hub as the store's destination: one wake of its loop per delivery.
package final class HubDestination: StoreDestination {
  private let loop: any Loop
  private let hub = Lock<LoopBound<LoopHub>?>(nil)

  init(on loop: any Loop) {
    self.loop = loop
  }

  func attach(_ hub: LoopBound<LoopHub>) {
    self.hub.withLock { $0 = hub }
  }

  /// The writer's queue was full for a mutation of this loop. From any thread.
  func countRefusedWrite() {
    let hub = hub.withLock { $0 }
    loop.execute { hub?.value.counters.add(.writesRefused) }
  }

  package func deliver(_ delivery: StoreDelivery) {
    let hub = hub.withLock { $0 }
    loop.execute { hub?.value.receive(delivery) }
  }
}
