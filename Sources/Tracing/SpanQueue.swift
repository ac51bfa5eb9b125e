package import MartletVocabulary

/// The bounds of what waits to be sent to a collector.
package struct SpanLimits: Sendable, Equatable {
  /// Spans that wait. Beyond it new ones are dropped and counted: tracing must not take the memory of what it watches.
  package var waiting = 4_096
  /// Spans of one request, about 200 KiB: what collectors take without a setting.
  package var perRequest = 512
  /// Commits, and deliveries whose commit has not come, that are remembered: more than are under way at a time.
  package var commits = 1_024
  /// The longest that a span waits for others to be sent with.
  package var delay = Duration.seconds(1)
  /// After this time a request counts as lost, and its spans with it.
  package var requestTime = Duration.seconds(10)
  /// The longest pause after a request that failed.
  package var longestPause = Duration.seconds(30)

  package init() {}
}

/// What waits to be sent to a collector, and when it is: one request at a time. Decides only.
package struct SpanQueue: Sendable {
  private var waiting: [TraceSpan] = []
  private var isSending = false
  /// Failed requests since the last one that went well.
  private var failures = 0
  private var pausedUntil: Instant?
  private var due: Instant?
  /// Spans that were dropped since the start.
  package private(set) var dropped = 0
  package let limits: SpanLimits

  package init(limits: SpanLimits = SpanLimits()) { self.limits = limits }

  package enum Step: Sendable, Equatable {
    case none
    /// Ask `poll` at this time.
    case wake(at: Instant)
    case send([TraceSpan])
  }

  /// A span is over.
  package mutating func add(_ span: TraceSpan, now: Instant) -> Step {
    guard waiting.count < limits.waiting else {
      dropped += 1
      return .none
    }
    waiting.append(span)
    if waiting.count == 1 {
      let at = max(now + limits.delay, pausedUntil ?? now)
      due = at
      return isSending ? .none : .wake(at: at)
    }
    return waiting.count == limits.perRequest ? poll(now: now, isFull: true) : .none
  }

  /// The time that `wake` named has come.
  package mutating func poll(now: Instant) -> Step { poll(now: now, isFull: false) }

  private mutating func poll(now: Instant, isFull: Bool) -> Step {
    guard !isSending, !waiting.isEmpty else { return .none }
    if let pausedUntil, now < pausedUntil { return isFull ? .none : .wake(at: pausedUntil) }
    if !isFull, waiting.count < limits.perRequest, let due, now < due { return .wake(at: due) }
    let batch = Array(waiting.prefix(limits.perRequest))
    waiting.removeFirst(batch.count)
    isSending = true
    return .send(batch)
  }

  /// The request has ended.
  ///
  /// - Parameter isTaken: whether the collector has the spans. Others are dropped: one that refused them once would
  ///   refuse them again, and one that is away must not be flooded when it is back.
  package mutating func ended(_ count: Int, isTaken: Bool, now: Instant) -> Step {
    isSending = false
    if isTaken {
      failures = 0
      pausedUntil = nil
    } else {
      dropped += count
      failures = min(failures + 1, 16)
      pausedUntil = now + min(limits.longestPause, .seconds(1 << (failures - 1)))
    }
    guard !waiting.isEmpty else { return .none }
    let at = max(pausedUntil ?? now, waiting.count >= limits.perRequest ? now : now + limits.delay)
    due = at
    return .wake(at: at)
  }

  /// What is left when the server stops.
  package mutating func takeAll() -> [TraceSpan] {
    defer { waiting = [] }
    return waiting
  }
}
