import Foundation
import MartletRuntime
import MartletVocabulary
import Synchronization
import Testing

@testable import MartletLoop
@testable import MartletSockets

@Suite struct LoopTests {
  final class Log<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
  }

  final class End: TurnEnd {
    let act: () -> Void
    init(_ act: @escaping () -> Void) { self.act = act }
    func turnEnded() { act() }
  }

  @Test func `writing to a closed peer is an error, not the end of the process`() async throws {
    try await withLoop { loop in
      let codes = Log<Int32>()
      await on(loop) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return }
        close(ends[0])
        var byte: UInt8 = 1
        let written = write(ends[1], &byte, 1)
        codes.add(written < 0 ? errno : 0)
        close(ends[1])
      }
      #expect(codes.all == [EPIPE])
    }
  }

  @Test func `posted work runs in order of arrival`() async throws {
    try await withLoop { loop in
      let log = Log<Int>()
      for number in 0..<1000 { loop.execute { log.add(number) } }
      await on(loop) {}
      #expect(log.all == Array(0..<1000))
    }
  }

  @Test func `a busy loop is not woken, and many enqueues cost one wake`() async throws {
    try await withLoop { loop in
      await on(loop) {}
      let box = Gates()
      loop.execute {
        box.started.store(true, ordering: .releasing)
        while !box.go.load(ordering: .acquiring) {}
      }
      while !box.started.load(ordering: .acquiring) { await Task.yield() }
      let before = loop.queue.wakes
      for _ in 0..<500 { loop.execute {} }
      #expect(loop.queue.wakes == before)
      box.go.store(true, ordering: .releasing)
      await on(loop) {}
      #expect(await on(loop) { loop.counters.jobs } >= 502)
    }
  }

  final class Gates: Sendable {
    let started = Atomic<Bool>(false)
    let go = Atomic<Bool>(false)
  }

  @Test func `timers fire by deadline, equal ones in order, and not before their time`() async throws {
    try await withLoop { loop in
      let log = Log<Int>()
      let early: [Bool] = await withCheckedContinuation { continuation in
        loop.execute {
          let start = loop.now
          let tooEarly = Log<Bool>()
          for (number, delay) in [3, 1, 2, 1, 3].enumerated() {
            loop.schedule(at: start + .milliseconds(delay)) {
              log.add(number)
              tooEarly.add(loop.now < start + .milliseconds(delay))
            }
          }
          loop.schedule(at: start + .milliseconds(2)) { log.add(99) }.cancel()
          loop.schedule(at: start + .milliseconds(4)) { continuation.resume(returning: tooEarly.all) }
        }
      }
      #expect(log.all == [1, 3, 2, 0, 4])
      #expect(early == Array(repeating: false, count: 5))
    }
  }

  @Test func `the end of a turn comes after its work, and work registered there runs in the same end`()
    async throws
  {
    try await withLoop { loop in
      let log = Log<String>()
      let turns: (Int, Int) = await withCheckedContinuation { continuation in
        loop.execute {
          let turn = loop.counters.turns
          loop.atEndOfTurn(
            End {
              log.add("end")
              loop.atEndOfTurn(
                End {
                  log.add("end of end")
                  continuation.resume(returning: (turn, loop.counters.turns))
                })
            })
          loop.execute { log.add("posted in the turn") }
          log.add("work")
        }
      }
      // What is posted in a turn runs in a later one.
      while log.all.count < 4 { await Task.yield() }
      #expect(log.all == ["work", "end", "end of end", "posted in the turn"])
      #expect(turns.0 == turns.1)
    }
  }

  @Test func `the heap of timers agrees with a sort, and cancelled timers do not fill it`() {
    var random = SeededRandom(seed: 7)
    var heap = TimerHeap()
    var expected: [(Int64, Int)] = []
    var fired: [Int] = []
    for number in 0..<2000 {
      let deadline = Int64.random(in: 0..<300, using: &random)
      let timer = LoopTimer { fired.append(number) }
      heap.insert(timer, at: Instant(nanoseconds: deadline))
      if number % 3 == 0 { timer.cancel() } else { expected.append((deadline, number)) }
    }
    for time in stride(from: Int64(0), through: 301, by: 7) {
      while let timer = heap.popDue(Instant(nanoseconds: time)) { timer.fire() }
    }
    expected.sort { $0 < $1 }
    let isSorted = fired == expected.map(\.1)
    #expect(isSorted)
    for number in 0..<10_000 {
      let timer = LoopTimer {}
      heap.insert(timer, at: Instant(nanoseconds: Int64(number)))
      timer.cancel()
    }
    #expect(heap.count <= 64)
  }

  /// An actor that lives on a loop.
  actor Resident {
    let loop: EpollLoop
    var count = 0
    init(_ loop: EpollLoop) { self.loop = loop }
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    func raise() -> Bool {
      count += 1
      return loop.isCurrent
    }
    func call(_ other: Resident, times: Int) async {
      for _ in 0..<times { _ = await other.raise() }
    }
  }

  @Test func `an actor on the loop runs on its thread and can be entered from it without waiting`() async throws {
    try await withLoop { loop in
      let resident = Resident(loop)
      #expect(await resident.raise())
      let count = await on(loop) {
        resident.assumeIsolated { actor in
          actor.count += 1
          return actor.count
        }
      }
      #expect(count == 2)
    }
  }

  @Test func `calls between actors of a loop need no queue in a task that prefers the loop`() async throws {
    try await withLoop { loop in
      let (one, other) = (Resident(loop), Resident(loop))
      let jobs = await Task(executorPreference: loop) {
        let before = loop.counters.jobs
        await one.call(other, times: 100)
        return loop.counters.jobs - before
      }.value
      // To the first actor and back, whatever the number of calls between the two.
      #expect(jobs <= 2)
    }
  }

  @Test func `user code is started outside every loop, also from one`() async throws {
    try await withLoop { loop in
      let isOutside: Bool = await withCheckedContinuation { continuation in
        loop.execute {
          ConcurrentSpawner().spawn {
            await Task.yield()
            continuation.resume(returning: !loop.isCurrent)
          }
        }
      }
      #expect(isOutside)
    }
  }

  @Test func `a stopped loop ends its thread`() async throws {
    let loop = try EpollLoop.start()
    await on(loop) {}
    loop.stop()
    loop.waitUntilStopped()
    #expect(!loop.isCurrent)
  }
}
