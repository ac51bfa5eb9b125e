internal import MartletRuntime
internal import MartletVocabulary

/// Lets a bounded number of TLS handshakes use the processor in one turn; the others wait in order of arrival. A crowd
/// of new peers then cannot hold up the events of connected ones.
///
/// Confined to its loop.
package final class HandshakeGate {
  private let perTurn: Int
  private var left: Int
  private var waiting: [() -> Void] = []
  private var isScheduled = false
  /// The most steps any turn has had; for tests.
  package private(set) var mostInOneTurn = 0

  init(perTurn: Int) {
    self.perTurn = max(1, perTurn)
    left = max(1, perTurn)
  }

  /// Runs `step` now, or answers false and runs it in a later turn.
  package func admit(on loop: EpollLoop, _ step: @escaping () -> Void) -> Bool {
    refillNextTurn(loop)
    guard left > 0, waiting.isEmpty else {
      waiting.append(step)
      return false
    }
    left -= 1
    mostInOneTurn = max(mostInOneTurn, perTurn - left)
    return true
  }

  private func refillNextTurn(_ loop: EpollLoop) {
    guard !isScheduled else { return }
    isScheduled = true
    // After the time of this turn, so that it fires in the next.
    loop.schedule(at: loop.now + .nanoseconds(1)) { [self] in
      isScheduled = false
      left = perTurn
      guard !waiting.isEmpty else { return }
      let admitted = waiting.prefix(perTurn)
      waiting.removeFirst(admitted.count)
      left -= admitted.count
      mostInOneTurn = max(mostInOneTurn, admitted.count)
      refillNextTurn(loop)
      for step in admitted { step() }
    }
  }
}
