internal import MartletLoop
internal import MartletRuntime
package import MartletVocabulary

/// The thread of a log: gives entries to the sink, one at a time, so that a sink that blocks or fails delays no other
/// thread.
package final class LogWriter: Sendable {
  private let desk: Desk

  /// - Parameter sink: writes an entry; false when it could not.
  package init(_ limits: LogLimits, sink: @escaping @Sendable (Log.Entry) -> Bool) {
    desk = Desk(limits, sink)
  }

  deinit { desk.end() }

  /// Sets the bounds from now on; what waits already is kept.
  package func adopt(_ limits: LogLimits) { desk.adopt(limits) }

  package func add(_ entry: Log.Entry, now: Instant) { desk.add(entry, now: now) }

  /// Calls `action` from now on for each entry that the sink could not write, on the log's thread.
  package func onLoss(_ action: @escaping @Sendable () -> Void) { desk.onLoss(action) }

  /// Waits until the sink has been given every entry, at most `flushTime`.
  package func flush() -> Bool { desk.flush() }
}

/// What the writer and its thread share; the thread does not keep the writer.
private final class Desk: Sendable {
  private struct State {
    var queue: LogQueue
    var hasThread = false
    var isEnding = false
    var flushes = 0
    var onLoss: (@Sendable () -> Void)?
  }

  private let sink: @Sendable (Log.Entry) -> Bool
  private let state: Lock<State>
  /// Rung when there is something to take.
  private let arrivals = Bell()
  /// Rung once for each caller of `flush` when nothing is left.
  private let flushed = Bell()

  init(_ limits: LogLimits, _ sink: @escaping @Sendable (Log.Entry) -> Bool) {
    self.sink = sink
    state = Lock(State(queue: LogQueue(limits)))
  }

  func adopt(_ limits: LogLimits) { state.withLock { $0.queue.limits = limits } }

  func onLoss(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.onLoss = action } }

  func add(_ entry: Log.Entry, now: Instant) {
    let (wakes, starts) = state.withLock { state in
      let wasEmpty = state.queue.isEmpty
      state.queue.add(entry, now: now)
      let starts = !state.hasThread
      state.hasThread = true
      return (wasEmpty, starts)
    }
    if starts, !LoopThread.start(name: "martlet-log", { [self] in run() }) {
      // The system has no thread left. The entry waits for one that is written later.
      state.withLock { $0.hasThread = false }
    }
    if wakes { arrivals.ring() }
  }

  func end() {
    state.withLock { $0.isEnding = true }
    arrivals.ring()
  }

  func flush() -> Bool {
    let time = state.withLock { state -> Duration? in
      guard state.hasThread else { return nil }
      state.flushes += 1
      return state.queue.limits.flushTime
    }
    guard let time else { return true }
    arrivals.ring()
    return flushed.wait(until: MonotonicClock.now() + time)
  }

  private enum Next {
    case write([Log.Entry])
    case wait(until: Instant?)
    case end
  }

  private func run() {
    while true {
      let (next, flushes) = state.withLock { Self.step(&$0) }
      for _ in 0..<flushes { flushed.ring() }
      switch next {
      case .write(let entries):
        for entry in entries { write(entry) }
      case .wait(.some(let end)): _ = arrivals.wait(until: end)
      case .wait(nil): arrivals.wait()
      case .end: return
      }
    }
  }

  private static func step(_ state: inout State) -> (Next, flushes: Int) {
    let isLast = state.flushes > 0 || state.isEnding
    let entries = state.queue.take(now: MonotonicClock.now(), isLast: isLast)
    guard entries.isEmpty else { return (.write(entries), 0) }
    let flushes = state.flushes
    state.flushes = 0
    if state.isEnding { return (.end, flushes) }
    return (.wait(until: state.queue.nextEnd), flushes)
  }

  private func write(_ entry: Log.Entry) {
    guard sink(entry) else {
      let action = state.withLock { state in
        state.queue.noteLoss()
        return state.onLoss
      }
      return action?() ?? ()
    }
    let report = state.withLock { $0.queue.takeLossReport(milliseconds: WallClock.milliseconds()) }
    guard let report, !sink(report.entry) else { return }
    state.withLock { $0.queue.noteLoss(of: report.count) }
  }
}
