import MartletRuntime
import MartletSimulation
import MartletVocabulary

/// Tasks that wait for news of the script, each with its deadline.
///
/// `@unchecked Sendable` holds as for the server: it is touched only inside one simulation's pump.
final class Waiters: @unchecked Sendable {
  private let loop: SimulatedLoop
  private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  private var last = 0

  init(_ loop: SimulatedLoop) {
    self.loop = loop
  }

  /// Something happened.
  func wake() {
    let due = waiting.sorted { $0.key < $1.key }
    waiting = [:]
    for (_, continuation) in due { continuation.resume() }
  }

  /// Returns at the next news, or at the deadline.
  func wait(until deadline: Instant) async {
    precondition(loop.executor.isOnPump, "a script waits inside VirtualTime.run")
    await withCheckedContinuation { continuation in
      last += 1
      let mine = last
      waiting[mine] = continuation
      loop.schedule(at: deadline) { [weak self] in self?.waiting.removeValue(forKey: mine)?.resume() }
    }
  }
}
