package import MartletVocabulary

/// A thread of control that owns connections: the epoll loop in production, one seeded queue in a simulation.
///
/// Everything a loop owns is touched only while it is current. The turn is the unit of work: readiness, timers and
/// posted work run first, what was registered with `atEndOfTurn` runs last, which is where a connection joins all
/// frames of the turn into one send.
package protocol Loop: AnyObject, Sendable {
  /// The loop's clock, read once per turn.
  var now: Instant { get }
  /// Whether the caller runs on this loop.
  var isCurrent: Bool { get }
  /// How long what becomes ready now waits until the loop serves it, as far as the loop knows: zero unless it is
  /// behind. On the loop only.
  var lag: Duration { get }
  /// Runs `work` on the loop in order of arrival, from any thread. Many calls before the loop wakes cost one wake.
  /// Never in the turn that posts it: what the turn wrote has been handed to the system when `work` runs.
  func execute(_ work: @escaping @Sendable () -> Void)
  /// Runs `work` on the loop at `deadline` or soon after. On the loop only.
  @discardableResult
  func schedule(at deadline: Instant, _ work: @escaping () -> Void) -> LoopTimer
  /// Runs `work` once at the end of the current turn, in order of registration. On the loop only.
  func atEndOfTurn(_ work: any TurnEnd)
}

extension Loop {
  /// Zero: a loop that does not wait in line for a system's readiness.
  package var lag: Duration { .zero }
}

/// Something that acts once at the end of a loop's turn.
package protocol TurnEnd: AnyObject {
  /// The turn is over: flush what it gathered.
  func turnEnded()
}

/// A scheduled piece of work that can be called off. Confined to its loop.
package final class LoopTimer {
  package private(set) var isCancelled = false
  private var work: (() -> Void)?

  /// A timer, with its work when the loop keeps it here, so that cancelling also lets go of what the work holds.
  package init(work: (() -> Void)? = nil) {
    self.work = work
  }

  /// Calls the work off; nothing happens when it already ran.
  package func cancel() {
    isCancelled = true
    work = nil
  }

  /// Runs the work, once, unless it was called off. For loops.
  package func fire() {
    let due = work
    work = nil
    due?()
  }
}

/// Carries a value that belongs to one loop through code that must be `Sendable`.
///
/// `@unchecked Sendable` holds because the value is reachable only through `value`, which stops the process when
/// the caller is not on the loop; a loop runs one piece of work at a time.
package struct LoopBound<Value>: @unchecked Sendable {
  @usableFromInline let stored: Value
  package let loop: any Loop

  /// Binds `value` to `loop`. The caller gives up every other way to reach the value outside the loop.
  @inlinable
  package init(_ value: Value, on loop: any Loop) {
    stored = value
    self.loop = loop
  }

  /// The value; on the loop only.
  @inlinable
  package var value: Value {
    precondition(loop.isCurrent, "a loop's value was touched outside its loop")
    return stored
  }
}

/// Starts tasks for user code. Production uses the concurrent pool, never a loop; a simulation its seeded executor.
package protocol Spawner: Sendable {
  /// Starts `body` in a task of its own and answers how to cancel it.
  @discardableResult
  func spawn(_ body: @escaping @Sendable () async -> Void) -> SpawnedTask
}

/// A running task that can be cancelled from any thread.
package struct SpawnedTask: Sendable {
  private let cancelling: @Sendable () -> Void
  package init(cancelling: @escaping @Sendable () -> Void) {
    self.cancelling = cancelling
  }

  /// Asks the task to stop.
  package func cancel() {
    cancelling()
  }
}
