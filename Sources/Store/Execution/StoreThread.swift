internal import MartletRuntime

/// A thread with a queue of work: the store's writer or one of its readers in production.
///
/// Many pieces of work given while it is busy cost no wake; it takes them all at once.
package final class StoreThread: StoreExecutor {
  private struct Queue {
    var work: [@Sendable () -> Void] = []
    var isSleeping = false
    var isStopping = false
  }

  private let queue = Lock(Queue())
  private let bell = Bell()
  private let ended = Bell()

  /// Starts the thread.
  ///
  /// - Parameter niceness: How much it gives way to the process's other threads; see `ThreadNiceness`.
  package init(niceness: Int = 0) {
    let hasStarted = SystemThread.start { [self] in
      ThreadNiceness.raise(by: niceness)
      run()
    }
    precondition(hasStarted, "the system gave the store no thread")
  }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    let wakes = queue.withLock { queue in
      queue.work.append(work)
      defer { queue.isSleeping = false }
      return queue.isSleeping
    }
    if wakes { bell.ring() }
  }

  package func stop() {
    end()
    ended.wait()
    ended.ring()  // for any other caller
  }

  /// Runs what was given, then ends. From any thread, the thread itself included; returns at once.
  package func end() {
    let wakes = queue.withLock { queue in
      queue.isStopping = true
      defer { queue.isSleeping = false }
      return queue.isSleeping
    }
    if wakes { bell.ring() }
  }

  private enum Next {
    case work([@Sendable () -> Void])
    case sleep
    case end
  }

  private func run() {
    while true {
      let next: Next = queue.withLock { queue in
        if !queue.work.isEmpty {
          defer { queue.work = [] }
          return .work(queue.work)
        }
        if queue.isStopping { return .end }
        queue.isSleeping = true
        return .sleep
      }
      switch next {
      case .work(let pieces):
        for piece in pieces { piece() }
      case .sleep:
        bell.wait()
      case .end:
        ended.ring()
        return
      }
    }
  }
}
