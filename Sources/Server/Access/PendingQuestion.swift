internal import MartletRuntime

/// A question to the program whose answer is awaited; cancelled when it is let go. Confined to its loop.
final class PendingQuestion {
  private let task: SpawnedTask
  private let timer: LoopTimer

  init(_ task: SpawnedTask, _ timer: LoopTimer) {
    self.task = task
    self.timer = timer
  }

  deinit {
    task.cancel()
    timer.cancel()
  }
}
