import MartletRuntime
import MartletVocabulary

/// Tasks that wait for news of the script, each with its deadline.
///
/// `@unchecked Sendable` holds as for the server: it is touched only where the script runs.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class Waiters: @unchecked Sendable {
  private let loop: any Loop
  /// Whether the caller runs where the script runs.
  private let isInside: @Sendable () -> Bool
  private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  private var last = 0

  init(_ loop: any Loop, isInside: @escaping @Sendable () -> Bool) {
    self.loop = loop
    self.isInside = isInside
  }

  /// Something happened.
  func wake() {
    let due = waiting.sorted { $0.key < $1.key }
    waiting = [:]
    for (_, continuation) in due { continuation.resume() }
  }

  /// Returns at the next news, or at the deadline.
  func wait(until deadline: Instant) async {
    precondition(isInside(), "a script waits inside VirtualTime.run")
    await withCheckedContinuation { continuation in
      last += 1
      let mine = last
      waiting[mine] = continuation
      loop.schedule(at: deadline) { [weak self] in self?.waiting.removeValue(forKey: mine)?.resume() }
    }
  }
}
