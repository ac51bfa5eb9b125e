internal import Dispatch
package import Foundation
package import MartletRuntime
package import MartletVocabulary

/// A loop on a serial dispatch queue, for platforms without epoll.
///
/// A turn is one piece of work on the queue: something posted, a callback of Foundation's (`turn`), or the due timers.
/// `now` stands still during a turn, and what registered for its end runs when the piece is done.
///
/// `@unchecked Sendable` holds because everything below the mark is touched only on the queue (checked by `isCurrent`
/// where a caller could get it wrong); what stands above it is a constant.
package final class DispatchLoop: Loop, SerialExecutor, @unchecked Sendable {
  private static let key = DispatchSpecificKey<ObjectIdentifier>()

  package let queue: DispatchQueue
  /// The queue for APIs that call back on one of Foundation's.
  package let operations: OperationQueue

  // On the queue only, from here on.
  private var turnStart: Instant?
  private var turnEnds: [any TurnEnd] = []
  private var timers = TimerHeap()
  private var alarm: (any DispatchSourceTimer)?
  private var alarmAt: Instant?

  /// - Parameter name: what debuggers show.
  package init(name: String) {
    queue = DispatchQueue(label: name)
    operations = OperationQueue()
    // Not retained by the operation queue; the loop holds both.
    unsafe operations.underlyingQueue = queue
    operations.maxConcurrentOperationCount = 1
    operations.name = name
    queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
  }

  deinit {
    // A source must not be released while it may still fire.
    alarm?.cancel()
  }

  // MARK: Loop

  package var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }

  package var now: Instant { isCurrent ? turnStart ?? MonotonicClock.now() : MonotonicClock.now() }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    queue.async { self.turn(work) }
  }

  @discardableResult
  package func schedule(at deadline: Instant, _ work: @escaping () -> Void) -> LoopTimer {
    precondition(isCurrent, "a loop's timers are set on the loop")
    let timer = LoopTimer(work: work)
    timers.insert(timer, at: deadline)
    arm()
    return timer
  }

  package func atEndOfTurn(_ work: any TurnEnd) {
    precondition(isCurrent, "the end of a turn is registered for on the loop")
    turnEnds.append(work)
    // Outside a turn nothing would end it.
    if turnStart == nil { execute {} }
  }

  /// Runs a callback that Foundation has made on the queue as a turn of the loop. Inside a turn it belongs to that one.
  package func turn(_ work: () -> Void) {
    precondition(isCurrent, "a turn runs on the loop's queue")
    guard turnStart == nil else { return work() }
    turnStart = MonotonicClock.now()
    work()
    var index = 0
    while index < turnEnds.count {
      let end = turnEnds[index]
      index += 1
      end.turnEnded()
    }
    turnEnds.removeAll(keepingCapacity: true)
    turnStart = nil
  }

  // MARK: Timers

  /// Sets the one timer of the queue to the earliest deadline.
  private func arm() {
    guard let deadline = timers.nextDeadline else { return }
    if let alarmAt, alarmAt <= deadline { return }
    alarmAt = deadline
    let alarm = alarm ?? makeAlarm()
    let (rest, isFarPast) = deadline.nanoseconds.subtractingReportingOverflow(MonotonicClock.now().nanoseconds)
    // At most a minute, so that a clock which stands still while the machine sleeps delays nothing for longer.
    let nanoseconds = isFarPast ? 0 : min(max(rest, 0), 60_000_000_000)
    alarm.schedule(deadline: .now() + .nanoseconds(Int(nanoseconds)), leeway: .microseconds(100))
  }

  private func makeAlarm() -> any DispatchSourceTimer {
    let made = DispatchSource.makeTimerSource(queue: queue)
    made.setEventHandler { [weak self] in self?.fireTimers() }
    alarm = made
    made.resume()
    return made
  }

  private func fireTimers() {
    alarmAt = nil
    turn {
      // Due ones are taken first: a timer set by a timer waits for the next turn, so that turns end.
      var due: [LoopTimer] = []
      while let timer = timers.popDue(now) { due.append(timer) }
      for timer in due where !timer.isCancelled { timer.fire() }
    }
    arm()
  }

  // MARK: Executor

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      self.turn { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    // Actors on the loop hold it.
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  package func checkIsolated() {
    precondition(isCurrent, "code isolated to a loop ran outside it")
  }
}
