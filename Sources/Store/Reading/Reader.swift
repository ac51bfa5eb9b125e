internal import MartletRuntime
internal import MartletSQLite
internal import MartletVocabulary

/// One reader: a connection of its own on an executor of its own, and the lists of reads that wait for it.
final class Reader: Sendable {
  struct Work: Sendable {
    var requests: [ReadRequest]
    var destination: any StoreDestination
    var deadline: Instant
  }

  private let executor: any StoreExecutor
  private let snapshot: Confined<ReadSnapshot>
  private let clock: StoreClock
  private let largestQueue: Int
  private let queue = Lock<[Work]>([])

  init(_ snapshot: ReadSnapshot, executor: any StoreExecutor, clock: StoreClock, largestQueue: Int) {
    self.snapshot = Confined(snapshot)
    self.executor = executor
    self.clock = clock
    self.largestQueue = largestQueue
  }

  var waiting: Int { queue.withLock { $0.count } }

  /// Takes a list of reads; false when too many wait.
  func submit(_ work: Work) -> Bool {
    let isFirst: Bool? = queue.withLock { queue in
      guard queue.count < largestQueue else { return nil }
      queue.append(work)
      return queue.count == 1
    }
    guard let isFirst else { return false }
    if isFirst { executor.execute { [self] in drain() } }
    return true
  }

  func stop() { executor.stop() }

  /// Runs everything that waits, list by list, each in a snapshot of its own.
  private func drain() {
    while true {
      let next = queue.withLock { $0.first }
      guard let next else { return }
      run(next)
      // The list stays in the queue while it runs, so that `submit` knows a drain is under way.
      let isEmpty = queue.withLock { queue in
        queue.removeFirst()
        return queue.isEmpty
      }
      if isEmpty { return }
    }
  }

  private func run(_ work: Work) {
    var completions: [@Sendable () -> Void] = []
    completions.reserveCapacity(work.requests.count)
    do throws(StoreError) {
      try snapshot.value.transaction {
        for request in work.requests { completions.append(perform(request, work.deadline)) }
      }
    } catch {
      // What has its answer keeps it; the others hear of the failure.
      for request in work.requests.dropFirst(completions.count) { completions.append(request.perform(.failure(error))) }
    }
    work.destination.deliver(StoreDelivery(batch: nil, completions: completions))
  }

  private func perform(_ request: ReadRequest, _ latest: Instant) -> @Sendable () -> Void {
    let deadline = request.deadline.map { min($0, latest) } ?? latest
    let now = clock.now
    guard now() <= deadline else {
      return request.perform(.failure(StoreError(.deadline, "the deadline passed before the read began")))
    }
    var completion: (@Sendable () -> Void)?
    snapshot.value.withDeadline({ now() > deadline }) {
      completion = request.perform(.success(snapshot.value))
    }
    return completion ?? request.perform(.failure(StoreError(.failed, "the read gave no answer")))
  }
}

/// Carries a value that belongs to one executor through code that must be `Sendable`.
///
/// `@unchecked Sendable` holds because the owner touches the value only in work it gave to that executor, which runs
/// one piece of work at a time.
struct Confined<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
