import MartletRuntime
import MartletStore
import MartletVocabulary

/// A loop whose turns the test takes one by one.
///
/// `@unchecked Sendable` holds because only the test's thread calls it.
final class StepLoop: Loop, @unchecked Sendable {
  private(set) var now = Instant(nanoseconds: 0)
  private var posted: [@Sendable () -> Void] = []
  private var timers: [(deadline: Instant, timer: LoopTimer)] = []
  private var ends: [any TurnEnd] = []
  var isCurrent: Bool { true }

  func execute(_ work: @escaping @Sendable () -> Void) { posted.append(work) }

  @discardableResult
  func schedule(at deadline: Instant, _ work: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(work: work)
    timers.append((deadline, timer))
    return timer
  }

  func atEndOfTurn(_ work: any TurnEnd) { ends.append(work) }

  /// Runs what was posted before this turn, then what waits for its end; false when there was nothing.
  @discardableResult
  func turn() -> Bool {
    now = now + .milliseconds(1)
    let work = posted
    posted = []
    let due = timers.filter { $0.deadline <= now }
    timers.removeAll { $0.deadline <= now }
    for timer in due { timer.timer.fire() }
    for piece in work { piece() }
    let hadEnds = !ends.isEmpty
    while !ends.isEmpty { ends.removeFirst().turnEnded() }
    return hadEnds || !work.isEmpty || !due.isEmpty
  }

  /// Takes turns until nothing is left to do.
  func run() {
    while turn() || !posted.isEmpty {}
  }
}

/// Runs a store's work when the test says so.
final class StepExecutor: StoreExecutor {
  private let queue = Lock<[@Sendable () -> Void]>([])

  func execute(_ work: @escaping @Sendable () -> Void) { queue.withLock { $0.append(work) } }

  func run() {
    while let next = queue.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { next() }
  }

  func stop() { run() }
}
