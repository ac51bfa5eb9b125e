internal import MartletRuntime

/// A lock around what an object of this module keeps in variables of its own.
struct Guard: Sendable {
  // Not of `Void`: the thread sanitizer takes the address of nothing for the lock's own.
  private let lock = Lock(false)

  /// Runs `body` exclusively. Never call out inside.
  func callAsFunction<Answer>(_ body: () -> Answer) -> Answer {
    lock.withLock { _ in Handed(body()) }.value
  }
}
