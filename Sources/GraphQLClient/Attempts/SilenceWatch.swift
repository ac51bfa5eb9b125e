import MartletRuntime

/// Reports that nothing has arrived for a time. Confined to its loop.
final class SilenceWatch {
  private let loop: any Loop
  private var timer: LoopTimer?

  init(_ loop: any Loop) {
    self.loop = loop
  }

  /// Starts the time anew; `silent` runs once when it has passed.
  func restart(_ time: Duration, silent: @escaping () -> Void) {
    timer?.cancel()
    timer = loop.schedule(at: loop.now + time, silent)
  }

  func stop() {
    timer?.cancel()
    timer = nil
  }
}
