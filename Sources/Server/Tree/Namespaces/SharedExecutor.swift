internal import MartletStore

/// One of several stores' places on a thread that they share: the end of one store does not end the thread.
final class SharedExecutor: StoreExecutor {
  /// Nil drops all work: for what is never opened.
  private let thread: (any StoreExecutor)?

  init(_ thread: (any StoreExecutor)?) {
    self.thread = thread
  }

  func execute(_ work: @escaping @Sendable () -> Void) { thread?.execute(work) }

  /// The thread ends with the last store, by its owner.
  func stop() {}
}
