internal import MartletRuntime

/// When one connection takes up its next request: not while its caller has used what it may use, few in a turn after
/// that, and in line with others where a turn of the loop has taken up enough.
///
/// Confined to its loop.
final class RequestTurns {
  private let gate: MessageGate
  private let pauses: ReadingPauses
  private let limits: ServerLimits.Callers
  /// How many requests may still be taken up in this turn; nil where the caller was not refused.
  private var share: Int?
  private var place = MessageGate.Place()
  private var pause: ReadingPause?
  private var isInLine = false
  /// Takes up the next request.
  var next: (() -> Void)?

  init(_ gate: MessageGate, _ pauses: ReadingPauses, _ limits: ServerLimits.Callers) {
    self.gate = gate
    self.pauses = pauses
    self.limits = limits
  }

  /// Whether the next request waits; `next` is called then.
  var isWaiting: Bool { pause != nil || isInLine }

  /// Whether the next request may be taken up in this turn.
  var mayTake: Bool { share != 0 && gate.mayTake(place) }

  /// A request is taken up; `isLast` when the client has sent nothing after it.
  func take(isLast: Bool) {
    gate.take(&place)
    share = isLast ? nil : share.map { max(0, $0 - 1) }
  }

  /// Has the next request wait for a later turn.
  func getInLine() {
    guard !isInLine else { return }
    isInLine = true
    gate.wait { [weak self] in
      guard let self else { return }
      isInLine = false
      if share != nil { share = max(1, limits.messagesPerTurn) }
      next?()
    }
  }

  /// Has the next request wait for a while, after one that was refused for its caller's rate. What the caller may use
  /// again by then would be used in one turn otherwise.
  func holdBack() {
    guard limits.refusedPause > .zero, pause == nil else { return }
    share = max(1, limits.messagesPerTurn)
    pause = pauses.wait(limits.refusedPause) { [weak self] in
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
