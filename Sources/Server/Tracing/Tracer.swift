internal import MartletRuntime
internal import MartletStore
internal import MartletTracing
internal import MartletVocabulary

/// Gathers what the server does into traces. Any thread may report; the exporter, on a loop, sends.
package final class Tracer: Sendable {
  /// Where a commit belongs, and what was delivered of it.
  private struct State {
    var queue: SpanQueue
    var chance: SeededRandom
    /// The commits of recorded traces by their last offset, oldest first.
    var commits: [(place: Place, context: TraceContext)] = []
    /// Deliveries whose commit is not known yet: another loop may deliver before the writer's loop has its answer.
    var deliveries: [WrittenEvent] = []
    var exporter: LoopBound<SpanExporter>?
  }

  /// An offset of one of the server's logs.
  struct Place: Hashable, Sendable {
    var store: ObjectIdentifier
    var offset: Int64
  }

  /// One event as one loop has written it to the members of one group.
  private struct WrittenEvent {
    var place: Place
    var members: Int
    var start: Int64
    var end: Int64
  }

  let configuration: TracingConfiguration
  let limits: SpanLimits
  private let state: Lock<State>
  private let clock: @Sendable () -> Int64

  /// - Parameter clock: nanoseconds since 1970.
  init(
    _ configuration: TracingConfiguration, limits: SpanLimits, chance: SeededRandom,
    clock: @escaping @Sendable () -> Int64 = { WallClock.sinceEpoch().wholeNanoseconds }
  ) {
    self.configuration = configuration
    self.limits = limits
    self.clock = clock
    state = Lock(State(queue: SpanQueue(limits: limits), chance: chance))
  }

  /// The present moment, for the times of spans.
  var now: Int64 { clock() }

  /// Spans that were not sent.
  package var dropped: Int { state.withLock { $0.queue.dropped } }

  // MARK: Reporting

  /// The place of an operation that a client asks for; nil when it is not recorded.
  ///
  /// - Parameter parent: what the client says of its own place.
  func begin(_ parent: TraceContext?) -> TraceContext? {
    if let parent { return parent.isSampled ? child(of: parent) : nil }
    return state.withLock { state -> TraceContext? in
      // 53 bits, as many as a number has.
      let drawn = Double(state.chance.next() >> 11) / Double(1 << 53)
      return drawn < configuration.share ? TraceContext(using: &state.chance) : nil
    }
  }

  /// The place of a part of an operation.
  func child(of parent: TraceContext) -> TraceContext {
    state.withLock { parent.child(using: &$0.chance) }
  }

  /// A piece of work is over.
  func end(_ span: TraceSpan) {
    perform { $0.queue.add(span, now: MonotonicClock.now()) }
  }

  /// A write of a recorded trace is durable, with these changes of a log.
  func committed(_ offsets: ClosedRange<Int64>, of store: Store, _ context: TraceContext) {
    let id = ObjectIdentifier(store)
    let delivered = state.withLock { state in
      for offset in offsets.suffix(max(limits.commits / 4, 1)) {
        state.commits.append((Place(store: id, offset: offset), context))
      }
      if state.commits.count > limits.commits { state.commits.removeFirst(state.commits.count / 2) }
      let isOfCommit = { (delivery: WrittenEvent) in
        delivery.place.store == id && offsets.contains(delivery.place.offset)
      }
      defer { state.deliveries.removeAll(where: isOfCommit) }
      return state.deliveries.filter(isOfCommit)
    }
    for delivery in delivered { report(delivery, of: context) }
  }

  /// Events have been written to the members of a group.
  func delivered(_ delivery: GroupDelivery, of store: Store) {
    for event in delivery.events { delivered(event, delivery.count, of: store) }
  }

  private func delivered(_ event: FeedEvent, _ members: Int, of store: Store) {
    let end = now
    let duration = event.committed.map { store.moment - $0 } ?? .zero
    let delivery = WrittenEvent(
      place: Place(store: ObjectIdentifier(store), offset: event.offset), members: members,
      start: end - max(0, duration.wholeNanoseconds), end: end)
    let context = state.withLock { state -> TraceContext? in
      if let commit = state.commits.last(where: { $0.place == delivery.place }) { return commit.context }
      state.deliveries.append(delivery)
      if state.deliveries.count > limits.commits { state.deliveries.removeFirst(state.deliveries.count / 2) }
      return nil
    }
    if let context { report(delivery, of: context) }
  }

  private func report(_ delivery: WrittenEvent, of commit: TraceContext) {
    end(
      TraceSpan(
        "deliver", .producer, child(of: commit), parent: commit.span, start: delivery.start, end: delivery.end,
        attributes: [
          ("martlet.offset", .number(delivery.place.offset)), ("martlet.members", .number(Int64(delivery.members))),
        ]))
  }

  // MARK: Sending

  /// Sends what waits, and what comes, by an exporter.
  func attach(_ exporter: LoopBound<SpanExporter>) {
    state.withLock { $0.exporter = exporter }
    poll()
  }

  /// Sends nothing more by itself. Returns the exporter, which sends the rest.
  func detach() -> LoopBound<SpanExporter>? {
    state.withLock { state in
      defer { state.exporter = nil }
      return state.exporter
    }
  }

  /// The time of a wake has come.
  func poll() {
    perform { $0.queue.poll(now: MonotonicClock.now()) }
  }

  /// A request to the collector has ended.
  func sent(_ count: Int, isTaken: Bool) {
    perform { $0.queue.ended(count, isTaken: isTaken, now: MonotonicClock.now()) }
  }

  /// Everything that waits, when the server stops.
  func takeAll() -> [TraceSpan] { state.withLock { $0.queue.takeAll() } }

  private func perform(_ decide: (inout State) -> SpanQueue.Step) {
    let (step, exporter) = state.withLock { state in (decide(&state), state.exporter) }
    guard let exporter, step != .none else { return }
    exporter.loop.execute { exporter.value.perform(step) }
  }
}
