/// The loop as Swift's executor: actors whose `unownedExecutor` is the loop, and tasks that prefer it, run on its
/// thread. Jobs run with both executors given, so that calls between them need no queue.
extension EpollLoop: SerialExecutor, TaskExecutor {
  package func enqueue(_ job: consuming ExecutorJob) {
    post(.job(UnownedJob(job)))
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    // The thread keeps the loop alive while it runs jobs.
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    unsafe UnownedTaskExecutor(ordinary: self)
  }

  package func checkIsolated() {
    precondition(isCurrent, "code isolated to a loop ran outside it")
  }

  package func isIsolatingCurrentContext() -> Bool? {
    isCurrent
  }

  func run(_ item: LoopItem) {
    switch item {
    case .work(let work):
      work()
    case .job(let job):
      unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }
}
