import Foundation
import MartletFoundationNetwork
import MartletRuntime
import MartletVocabulary
import Testing

/// The loop on a dispatch queue, in real time.
@Suite(.timeLimit(.minutes(1))) struct DispatchLoopTests {
  /// Runs a body on the loop and waits until it calls its argument.
  private func on<Answer: Sendable>(
    _ loop: DispatchLoop, _ body: @escaping @Sendable (@escaping @Sendable (Answer) -> Void) -> Void
  ) async -> Answer {
    await withCheckedContinuation { continuation in
      loop.execute { body { continuation.resume(returning: $0) } }
    }
  }

  @Test func `work runs in order, and what waits for the end of a turn runs before the next piece`() async {
    final class End: TurnEnd {
      let ended: () -> Void
      init(_ ended: @escaping () -> Void) { self.ended = ended }
      func turnEnded() { ended() }
    }
    let loop = DispatchLoop(name: "test")
    let log = Lock<[String]>([])
    let all: [String] = await on(loop) { done in
      log.withLock { $0.append("one") }
      loop.execute { log.withLock { $0.append("two") } }
      loop.execute { done(log.withLock { $0 }) }
      loop.atEndOfTurn(End { log.withLock { $0.append("end of one") } })
      // Inside the turn it belongs to it.
      loop.turn { log.withLock { $0.append("still one") } }
    }
    #expect(all == ["one", "still one", "end of one", "two"])
  }

  @Test func `the loop is current on its queue alone, and time stands still during a turn`() async {
    let (loop, other) = (DispatchLoop(name: "a"), DispatchLoop(name: "b"))
    #expect(!loop.isCurrent)
    let seen: [Bool] = await on(loop) { done in
      let now = loop.now
      var spent = 0
      while MonotonicClock.now() <= now { spent += 1 }
      done([loop.isCurrent, !other.isCurrent, loop.now == now])
    }
    #expect(seen == [true, true, true])
  }

  @Test func `timers fire by deadline, equal ones in their order, cancelled ones not at all`() async {
    let loop = DispatchLoop(name: "test")
    let log = Lock<[Int]>([])
    let fired: [Int] = await on(loop) { done in
      let start = loop.now
      func at(_ milliseconds: Int, _ number: Int) -> LoopTimer {
        loop.schedule(at: start + .milliseconds(milliseconds)) { log.withLock { $0.append(number) } }
      }
      _ = at(3, 3)
      _ = at(1, 1)
      at(2, 9).cancel()
      _ = at(2, 2)
      _ = at(3, 4)
      loop.schedule(at: start + .milliseconds(4)) {
        // A timer that is due when it is set waits for the next turn.
        loop.schedule(at: start) { done(log.withLock { $0 }) }
        log.withLock { $0.append(5) }
      }
      loop.schedule(at: start + .seconds(10_000)) { log.withLock { $0.append(99) } }
    }
    #expect(fired == [1, 2, 3, 4, 5])
  }

  @Test func `actors on the loop run on its queue and may assume so`() async {
    actor Resident {
      let loop: DispatchLoop
      nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
      init(_ loop: DispatchLoop) { self.loop = loop }
      var isHome: Bool { loop.isCurrent }
      func callBack() async -> Bool {
        await withCheckedContinuation { continuation in
          loop.execute { continuation.resume(returning: self.assumeIsolated { $0.isHome }) }
        }
      }
    }
    let resident = Resident(DispatchLoop(name: "test"))
    #expect(await resident.isHome)
    #expect(await resident.callBack())
  }
}
