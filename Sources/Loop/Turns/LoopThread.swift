internal import CMartletSystem
internal import MartletRuntime

/// Threads with names: those of loops, and those for calls that block.
package enum LoopThread {
  /// Runs `body` on a new, detached thread. `then` runs there after everything that `body` holds has been released.
  ///
  /// - Returns: Whether there is a thread; false when the system has none left.
  package static func start(
    name: String, _ body: @escaping @Sendable () -> Void, then: @escaping @Sendable () -> Void = {}
  ) -> Bool {
    SystemThread.start(
      {
        // The system cuts names at 15 bytes.
        unsafe martlet_name_thread(String(name.prefix(15)))
        body()
      }, then: then)
  }
}
