package import MartletRuntime
package import MartletVocabulary

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// One thread, one seed, one imaginary clock: everything a simulation does runs here, so that the same seed gives the
/// same history.
///
/// Ready work waits in lanes (one for each loop, in order of arrival) and in a bag of task jobs; which goes next is a
/// seeded choice. When nothing is ready the clock jumps to the next timer. Tasks must be started by `spawner`; a job
/// that comes from another thread is counted in `foreignEnqueues`, which a deterministic run keeps at zero.
///
/// `@unchecked Sendable` holds because everything below the mark is touched only by the thread that pumps (others go
/// through `foreign`, which is locked), and only one thread pumps at a time.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class SimulatedExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
  private enum Foreign {
    case job(UnownedJob)
    case work(lane: Int, @Sendable () -> Void)
  }
  private struct Gate {
    var pump: UInt?
    var items: [Foreign] = []
    var count = 0
  }
  private let gate = Lock(Gate())

  // The pumping thread only, from here on.
  /// Decides order, delays and faults.
  package var random: SeededRandom
  /// Virtual time since the start.
  package private(set) var now = Instant.zero
  /// Pieces of work run so far.
  package private(set) var steps = 0
  private var lanes: [[() -> Void]] = []
  private var laneHeads: [Int] = []
  private var loops: [SimulatedLoop] = []
  private var bag: [UnownedJob] = []
  private var timers: [(deadline: Instant, order: Int, lane: Int, timer: LoopTimer)] = []
  private var timerOrder = 0
  private var isPumping = false
  /// What happened, in order, as the parts of the simulation report it.
  package let history = SimulatedHistory()
  /// The loop whose turn it is.
  var current: SimulatedLoop?

  /// An executor whose whole run follows from `seed`.
  package init(seed: UInt64) {
    random = SeededRandom(seed: seed)
  }

  /// Jobs and work that came from threads of others. Zero in a deterministic run.
  package var foreignEnqueues: Int { gate.withLock { $0.count } }

  /// Starts tasks on this executor.
  package var spawner: any Spawner { SimulatedSpawner(executor: self) }

  /// A new loop: a lane of its own.
  package func makeLoop(_ name: String = "loop") -> SimulatedLoop {
    let loop = SimulatedLoop(name: name, lane: lanes.count, executor: self)
    lanes.append([])
    laneHeads.append(0)
    loops.append(loop)
    return loop
  }

  // MARK: Running

  private static var threadID: UInt {
    #if canImport(Darwin)
      return unsafe UInt(bitPattern: pthread_self())
    #else
      return UInt(pthread_self())
    #endif
  }

  /// Whether the caller runs inside the pump.
  package var isOnPump: Bool {
    let id = Self.threadID
    return gate.withLock { $0.pump == id }
  }

  /// Runs `body` as a task and everything it leads to until it returns. Blocks the calling thread meanwhile.
  ///
  /// - Throws: what `body` throws; `SimulationStuck` when it waits for something that can no longer happen, or more
  ///   than `steps` pieces of work have run.
  package func run<Result: Sendable>(
    steps limit: Int = 5_000_000, _ body: @escaping @Sendable () async throws -> Result
  ) throws -> Result {
    let outcome = Outcome<Result>()
    _ = Task(executorPreference: self) {
      do {
        outcome.value = .success(try await body())
      } catch {
        outcome.value = .failure(error)
      }
    }
    pump(steps: limit) { outcome.value != nil }
    guard let value = outcome.value else { throw SimulationStuck(at: now, steps: steps) }
    return try value.get()
  }

  /// Runs until nothing is ready and no timer is due up to `duration` from now.
  package func run(for duration: Duration) {
    let end = now + duration
    pump(steps: .max, until: end) { false }
    now = max(now, end)
  }

  private func pump(steps limit: Int, until end: Instant? = nil, _ isDone: () -> Bool) {
    precondition(!isPumping, "a simulation is not pumped from inside")
    isPumping = true
    let id = Self.threadID
    gate.withLock { $0.pump = id }
    defer {
      gate.withLock { $0.pump = nil }
      isPumping = false
    }
    var left = limit
    while !isDone(), left > 0 {
      takeForeign()
      if !runOne(), !advanceClock(until: end) { return }
      left -= 1
    }
  }

  private func takeForeign() {
    let items = gate.withLock { gate in
      defer { gate.items.removeAll() }
      return gate.items
    }
    for item in items {
      switch item {
      case .job(let job): bag.append(job)
      case .work(let lane, let work): lanes[lane].append(work)
      }
    }
  }

  private func runOne() -> Bool {
    var waiting: [Int] = []
    for lane in lanes.indices where laneHeads[lane] < lanes[lane].count { waiting.append(lane) }
    let choices = waiting.count + bag.count
    guard choices > 0 else { return false }
    steps += 1
    let choice = choices == 1 ? 0 : Int(random.next() % UInt64(choices))
    if choice < waiting.count {
      takeTurn(waiting[choice])
    } else {
      let index = choice - waiting.count
      bag.swapAt(index, bag.count - 1)
      let job = bag.removeLast()
      unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
    return true
  }

  /// One turn of a loop: a seeded number of the pieces that wait, then what registered for the turn's end.
  private func takeTurn(_ lane: Int) {
    let waiting = lanes[lane].count - laneHeads[lane]
    let count = waiting == 1 ? 1 : 1 + Int(random.next() % UInt64(min(waiting, 16)))
    let loop = loops[lane]
    current = loop
    for _ in 0..<count {
      let work = lanes[lane][laneHeads[lane]]
      laneHeads[lane] += 1
      work()
    }
    if laneHeads[lane] >= 64 || laneHeads[lane] == lanes[lane].count {
      lanes[lane].removeFirst(laneHeads[lane])
      laneHeads[lane] = 0
    }
    loop.endTurn()
    current = nil
  }

  private func advanceClock(until end: Instant?) -> Bool {
    while let first = timers.first, first.timer.isCancelled { _ = popTimer(); _ = first }
    guard let first = timers.first else { return false }
    if let end, first.deadline > end { return false }
    now = max(now, first.deadline)
    while let due = timers.first, due.deadline <= now {
      _ = popTimer()
      if !due.timer.isCancelled { lanes[due.lane].append { due.timer.fire() } }
    }
    return true
  }

  // MARK: Timers: a binary heap by deadline, then by order of scheduling.

  func schedule(at deadline: Instant, lane: Int, _ timer: LoopTimer) {
    timerOrder += 1
    timers.append((deadline, timerOrder, lane, timer))
    var child = timers.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(child, parent) else { break }
      timers.swapAt(child, parent)
      child = parent
    }
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    let (a, b) = (timers[left], timers[right])
    return a.deadline == b.deadline ? a.order < b.order : a.deadline < b.deadline
  }

  private func popTimer() -> LoopTimer {
    timers.swapAt(0, timers.count - 1)
    let last = timers.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < timers.count && isBefore(child, least) {
        least = child
      }
      if least == parent { break }
      timers.swapAt(parent, least)
      parent = least
    }
    return last.timer
  }

  // MARK: Work and jobs

  func post(lane: Int, _ work: @escaping @Sendable () -> Void) {
    if isOnPump || !isPumpKnown { lanes[lane].append(work) } else { postForeign(.work(lane: lane, work)) }
  }

  /// Between two pumps only the thread that owns the simulation prepares it.
  private var isPumpKnown: Bool { gate.withLock { $0.pump != nil } }

  private func postForeign(_ item: Foreign) {
    gate.withLock {
      $0.items.append(item)
      $0.count += 1
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    if isOnPump || !isPumpKnown { bag.append(unowned) } else { postForeign(.job(unowned)) }
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    // The pump keeps the executor alive while it runs jobs.
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  package func asUnownedTaskExecutor() -> UnownedTaskExecutor {
    unsafe UnownedTaskExecutor(ordinary: self)
  }

  package func checkIsolated() {
    precondition(isOnPump, "code of a simulation ran outside it")
  }

  package func isIsolatingCurrentContext() -> Bool? { isOnPump }

  /// Lets virtual time pass for the calling task, which must run on this executor.
  package func sleep(_ duration: Duration) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let lane = loops.isEmpty ? makeLoop("time").lane : 0
      schedule(at: now + duration, lane: lane, LoopTimer(work: { continuation.resume() }))
    }
  }
}

/// A simulation in which nothing more can happen although its body has not returned.
package struct SimulationStuck: Error, CustomStringConvertible {
  /// Virtual time when it stuck.
  package var at: Instant
  /// Work run until then.
  package var steps: Int

  package var description: String { "nothing can happen after \(at.nanoseconds) ns, after \(steps) steps" }
}

/// Where a body leaves its result for the pump; both run on the pumping thread, hence unchecked.
private final class Outcome<Value>: @unchecked Sendable {
  var value: Result<Value, any Error>?
}

/// Starts tasks on the simulation's executor.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package struct SimulatedSpawner: Spawner {
  let executor: SimulatedExecutor

  @discardableResult
  package func spawn(_ body: @escaping @Sendable () async -> Void) -> SpawnedTask {
    let task = Task(executorPreference: executor) { await body() }
    return SpawnedTask { task.cancel() }
  }
}
