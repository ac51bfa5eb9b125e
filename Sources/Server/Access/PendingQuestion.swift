internal import MartletRuntime

/// A caller about which nothing is decided yet: its token's key is looked for, or the program is asked. Given up when
/// it is let go. Confined to its loop.
final class PendingQuestion {
  private var task: SpawnedTask?
  private let timer: LoopTimer
  private(set) var isOver = false

  init(_ timer: LoopTimer) {
    self.timer = timer
  }

  /// The program is being asked.
  func begin(_ task: SpawnedTask) { self.task = task }

  /// Calls `body` unless an answer has come before.
  func answer(_ body: () -> Void) {
    guard !isOver else { return }
    isOver = true
    timer.cancel()
    body()
  }

  deinit {
    task?.cancel()
    timer.cancel()
  }
}
