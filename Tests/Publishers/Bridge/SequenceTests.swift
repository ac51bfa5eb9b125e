import Martlet
import MartletPublishers
import Testing

/// Publishers of any sequence.
@Suite(.timeLimit(.minutes(1))) struct SequenceTests {
  private struct Failed: Error {}

  @Test func `elements from before the first attachment wait for it`() async {
    let (sequence, source) = AsyncStream<Int>.makeStream()
    let publisher: AnyPublisher<Int, any Error> = Martlet.Publisher.create(sequence)
    for number in 0..<1_000 { source.yield(number) }
    source.finish()
    let watcher = Watcher<Int>()
    let held = publisher.watch(watcher)
    await watcher.waitForEnd()
    #expect(watcher.values == Array(0..<1_000))
    #expect(watcher.isFinished)
    held.cancel()
    let late = Watcher<Int>()
    let held2 = publisher.watch(late)
    #expect(late.values.isEmpty && late.isFinished)
    held2.cancel()
  }

  @Test func `each subscriber sees every element from its attachment on`() async {
    let (sequence, source) = AsyncStream<Int>.makeStream()
    let publisher = Martlet.Publisher.create(sequence)
    let (first, second) = (Watcher<Int>(), Watcher<Int>())
    let held = publisher.watch(first)
    source.yield(0)
    await first.wait(for: 1)
    let held2 = publisher.filter { $0.isMultiple(of: 2) }.map { $0 * 10 }.watch(second)
    for number in 1...4 { source.yield(number) }
    source.finish()
    await first.waitForEnd()
    await second.waitForEnd()
    #expect(first.values == [0, 1, 2, 3, 4])
    #expect(second.values == [20, 40])
    held.cancel()
    held2.cancel()
  }

  @Test func `an error is the failure of every subscriber, after all elements`() async {
    let (sequence, source) = AsyncThrowingStream<Int, any Error>.makeStream()
    let publisher = Martlet.Publisher.create(sequence)
    let watchers = [Watcher<Int>(), Watcher<Int>()]
    let held = watchers.map { publisher.watch($0) }
    for number in 0..<10 { source.yield(number) }
    source.finish(throwing: Failed())
    for watcher in watchers {
      await watcher.waitForEnd()
      #expect(watcher.failure is Failed)
    }
    #expect(watchers[0].values == Array(0..<10))
    #expect(held.count == 2)
  }

  @Test func `a subscriber that cancels disconnects the sequence, receives nothing more, and ends the others`() async {
    let (sequence, source) = AsyncStream<Int>.makeStream()
    let (terminations, terminated) = AsyncStream<Void>.makeStream()
    source.onTermination = { _ in terminated.yield() }
    let publisher = Martlet.Publisher.create(sequence)
    let (first, second) = (Watcher<Int>(), Watcher<Int>())
    let held = publisher.watch(first)
    let held2 = publisher.watch(second)
    source.yield(1)
    await first.wait(for: 1)
    await second.wait(for: 1)
    held.cancel()
    await second.waitForEnd()
    var ends = terminations.makeAsyncIterator()
    await ends.next()
    source.yield(2)
    #expect(first.values == [1] && first.end == nil)
    #expect(second.values == [1] && second.isFinished)
    held2.cancel()
  }

  @Test func `dropping the one cancellable cancels, and so does emptying the set it is stored in`() async {
    for isStored in [false, true] {
      let (sequence, source) = AsyncStream<Int>.makeStream()
      let (terminations, terminated) = AsyncStream<Void>.makeStream()
      source.onTermination = { _ in terminated.yield() }
      var set: Set<AnyCancellable> = []
      let watcher = Watcher<Int>()
      var held: AnyCancellable? = Martlet.Publisher.create(sequence).watch(watcher)
      if isStored { held?.store(in: &set) }
      source.yield(1)
      await watcher.wait(for: 1)
      held = nil
      #expect(held == nil && set.count == (isStored ? 1 : 0))
      set = []
      var ends = terminations.makeAsyncIterator()
      await ends.next()
      #expect(watcher.end == nil)
    }
  }

  @Test func `a subscriber gets what it asked for and no more, and nothing is lost`() async {
    let (sequence, source) = AsyncStream<Int>.makeStream()
    for number in 0..<2_000 { source.yield(number) }
    source.finish()
    let publisher = Martlet.Publisher.create(sequence)
    let slow = Asking()
    let all = Watcher<Int>()
    publisher.subscribe(slow)
    let held = publisher.watch(all)
    #expect(slow.watcher.values.isEmpty)
    slow.ask(.max(3))
    await slow.watcher.wait(for: 3)
    #expect(slow.watcher.values == [0, 1, 2])
    slow.ask(.unlimited)
    await slow.watcher.waitForEnd()
    #expect(slow.watcher.values == Array(0..<2_000))
    await all.waitForEnd()
    #expect(all.isFinished)
    held.cancel()
  }
}

/// A subscriber that asks for values only on request.
final class Asking: Subscriber, Sendable {
  typealias Input = Int
  typealias Failure = any Error

  private let bond = Bonded()
  let watcher = Watcher<Int>()

  func ask(_ demand: Subscribers.Demand) { bond.subscription?.request(demand) }
  func receive(subscription: any Subscription) { bond.subscription = subscription }
  func receive(_ input: Int) -> Subscribers.Demand {
    watcher.take(input)
    return .none
  }
  func receive(completion: Subscribers.Completion<any Error>) { watcher.take(completion) }

  /// Set once, before anything else is called, and used by the test's own thread.
  private final class Bonded: @unchecked Sendable {
    var subscription: (any Subscription)?
  }
}
