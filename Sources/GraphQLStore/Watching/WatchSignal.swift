internal import MartletRuntime

/// Wakes one watcher. Any number of changes before it looks are one.
final class WatchSignal: Sendable {
  private struct Shared {
    var isRaised = false
    var waiter: CheckedContinuation<Void, Never>?
  }
  private let shared = Lock(Shared())

  /// Notes a change. The answer wakes the watcher and is called outside every lock.
  func raise() -> CheckedContinuation<Void, Never>? {
    shared.withLock { shared in
      shared.isRaised = true
      defer { shared.waiter = nil }
      return shared.waiter
    }
  }

  /// Forgets changes so far; the caller looks right afterwards.
  func lower() {
    shared.withLock { $0.isRaised = false }
  }

  /// Returns once there is a change, or the task is cancelled.
  func wait() async {
    if shared.withLock({ $0.isRaised }) { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = Task.isCancelled
        let goesOn = shared.withLock { shared -> Bool in
          if shared.isRaised || isCancelled { return true }
          precondition(shared.waiter == nil, "a watcher has one consumer at a time")
          shared.waiter = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      raise()?.resume()
    }
  }
}
