internal import MartletRuntime

/// A lock around what an object of this module keeps in variables of its own.
struct Guard: Sendable {
  private let lock = Lock(())

  /// Runs `body` while nobody else is inside. Never call out inside.
  func callAsFunction<Answer>(_ body: () -> Answer) -> Answer {
    lock.withLock { _ in Handed(body()) }.value
  }
}
