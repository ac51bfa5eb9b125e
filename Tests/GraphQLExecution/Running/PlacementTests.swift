import Foundation
import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import Synchronization
import Testing

/// User code never runs on a loop, whatever the task that executes an operation prefers.
struct PlacementTests {
  @Test func `no resolver, source stream or scalar sees the thread of the executor that the caller prefers`()
    async throws
  {
    let loop = ThreadExecutor()
    defer { loop.stop() }
    let (onLoop, calls) = (Counter(), Counter())
    let look: @Sendable () -> Void = {
      calls.increment()
      if loop.isCurrent { onLoop.increment() }
    }
    let schema = try ExecutableSchema.open(
      """
      type Query { a: Int b: [T] c: Stamp }
      type Subscription { ticks: Int }
      type T { x: Int y: Int }
      scalar Stamp
      """
    ) { schema in
      schema.compute("Query", "a") { _ in
        look()
        return 1
      }
      schema.resolve("Query", "b") { _ in
        look()
        await Task.yield()
        look()
        return JSONValue.array([[:], [:]])
      }
      schema.compute("Query", "c") { _ in JSONValue.string("now") }
      schema.batch("T", "x") { request in
        look()
        return request.sources.map { _ in 1 }
      }
      schema.resolve("T", "y") { _ in
        look()
        return 2
      }
      schema.scalar(
        "Stamp",
        serialize: { value in
          look()
          return value
        })
      schema.stream("Subscription", "ticks") { _ in
        look()
        return Watched(look: look)
      }
    }
    try await withTaskExecutorPreference(loop) {
      #expect(loop.isCurrent)
      let response = try await schema.answer("{ a b { x y } c }")
      #expect(response["data"]?["b"] == [["x": 1, "y": 2], ["x": 1, "y": 2]])
      var seen = 0
      for await _ in try await schema.subscribe("subscription { ticks }") { seen += 1 }
      #expect(seen == 2)
    }
    #expect(calls.value >= 10)
    #expect(onLoop.value == 0)
  }

  /// Two events; looks where it is each time it is asked.
  private struct Watched: AsyncSequence, Sendable {
    let look: @Sendable () -> Void

    func makeAsyncIterator() -> Iterator { Iterator(look: look) }

    struct Iterator: AsyncIteratorProtocol {
      let look: @Sendable () -> Void
      var left = 2

      mutating func next() async -> Int? {
        look()
        guard left > 0 else { return nil }
        left -= 1
        return left
      }
    }
  }
}

/// One thread that runs tasks, as a loop does.
final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
  // `@unchecked Sendable` holds: all state is guarded by the condition.
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []
  private var isStopped = false
  private var thread: Thread?

  init() {
    let thread = Thread { [unowned self] in run() }
    self.thread = thread
    thread.start()
  }

  var isCurrent: Bool { Thread.current === thread }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }

  func stop() {
    condition.withLock {
      isStopped = true
      condition.signal()
    }
  }

  private func run() {
    while true {
      condition.lock()
      while jobs.isEmpty, !isStopped { condition.wait() }
      if jobs.isEmpty {
        condition.unlock()
        return
      }
      let job = jobs.removeFirst()
      condition.unlock()
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
