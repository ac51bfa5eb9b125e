internal import MartletRuntime
internal import MartletVocabulary

/// A deadline that is set anew again and again, as that of a connection is with each request.
///
/// The loop's timer is not set anew with it: one that fires too early is set for what is left. So thousands of requests
/// a second set no timers. Confined to its loop.
final class MovingTimer {
  private let loop: any Loop
  /// Called when the deadline has come; nothing is due then until the next `set`.
  var expire: () -> Void = {}
  private var deadline: Instant?
  /// The loop's timer, and when it fires.
  private var alarm: (timer: LoopTimer, at: Instant)?

  init(on loop: any Loop) {
    self.loop = loop
  }

  /// Moves the deadline.
  func set(at deadline: Instant) {
    self.deadline = deadline
    if let alarm {
      if alarm.at <= deadline { return }
      alarm.timer.cancel()
    }
    schedule(deadline)
  }

  /// Takes the deadline back.
  func cancel() {
    deadline = nil
  }

  /// Takes the deadline back, and releases what `expire` holds.
  func end() {
    deadline = nil
    expire = {}
    alarm?.timer.cancel()
    alarm = nil
  }

  private func schedule(_ time: Instant) {
    alarm = (loop.schedule(at: time) { [weak self] in self?.fired() }, time)
  }

  private func fired() {
    alarm = nil
    guard let deadline else { return }
    guard deadline <= loop.now else { return schedule(deadline) }
    self.deadline = nil
    expire()
  }
}
