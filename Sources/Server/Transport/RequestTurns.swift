internal import MartletRuntime

/// When one connection takes up its next request: not while its caller has used what it may use, and in line with
/// others where a turn of the loop has taken up enough.
///
/// Confined to its loop.
final class RequestTurns {
  private let gate: MessageGate
  private let pauses: ReadingPauses
  private var place = MessageGate.Place()
  private var pause: ReadingPause?
  private var isInLine = false
  /// Takes up the next request.
  var next: (() -> Void)?

  init(_ gate: MessageGate, _ pauses: ReadingPauses) {
    self.gate = gate
    self.pauses = pauses
  }

  /// Whether the next request waits; `next` is called then.
  var isWaiting: Bool { pause != nil || isInLine }

  /// Whether the next request may be taken up in this turn.
  var mayTake: Bool { gate.mayTake(place) }

  /// A request is taken up.
  func take() { gate.take(&place) }

  /// Has the next request wait for a later turn.
  func getInLine() {
    guard !isInLine else { return }
    isInLine = true
    gate.wait { [weak self] in
      self?.isInLine = false
      self?.next?()
    }
  }

  /// Has the next request wait for a while, after one that was refused for its caller's rate.
  func holdBack(for time: Duration) {
    guard time > .zero, pause == nil else { return }
    pause = pauses.wait(time) { [weak self] in
      self?.pause = nil
      self?.next?()
    }
  }

  /// The connection is over: nothing is called.
  func end() {
    pause?.cancel()
    pause = nil
    next = nil
  }
}
