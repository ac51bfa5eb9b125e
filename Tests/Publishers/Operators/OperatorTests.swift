import Foundation
import Martlet
import MartletPublishers
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct OperatorTests {
  private struct Failed: Error {}

  private func numbers(_ range: Range<Int>, failing: Bool = false) -> AnyPublisher<Int, any Error> {
    Martlet.Publisher.create(
      AsyncThrowingStream<Int, any Error> { source in
        for number in range { source.yield(number) }
        source.finish(throwing: failing ? Failed() : nil)
      })
  }

  @Test func `compactMap, removeDuplicates and map work one after the other`() async {
    let watcher = Watcher<String>()
    let held = numbers(0..<12)
      .compactMap { $0 > 3 ? $0 / 3 : nil }
      .removeDuplicates()
      .map { "\($0)" }
      .watch(watcher)
    await watcher.waitForEnd()
    #expect(watcher.values == ["1", "2", "3"])
    held.cancel()
  }

  @Test func `a filter that drops nearly all asks on, whatever its subscriber asked for`() async {
    let asking = Asking()
    numbers(0..<1_000).filter { $0.isMultiple(of: 500) }.subscribe(asking)
    asking.ask(.max(1))
    await asking.watcher.wait(for: 1)
    #expect(asking.watcher.values == [0])
    asking.ask(.max(1))
    await asking.watcher.wait(for: 2)
    #expect(asking.watcher.values == [0, 500])
  }

  @Test(arguments: ["serial", "concurrent", "operations"])
  func `a queue gets every value in order and the end last`(kind: String) async {
    let watcher = Watcher<Int>()
    let source = numbers(0..<3_000)
    let held: AnyCancellable
    switch kind {
    case "serial": held = source.receive(on: DispatchQueue(label: "serial")).watch(watcher)
    case "concurrent":
      held = source.receive(on: DispatchQueue(label: "concurrent", attributes: .concurrent)).watch(watcher)
    case _: held = source.receive(on: OperationQueue()).watch(watcher)
    }
    await watcher.waitForEnd()
    #expect(watcher.values == Array(0..<3_000))
    #expect(watcher.isFinished)
    held.cancel()
  }

  @Test func `values are received on the queue asked for`() async {
    let queue = DispatchQueue(label: "named")
    let key = DispatchSpecificKey<Int>()
    queue.setSpecific(key: key, value: 7)
    let watcher = Watcher<Int?>()
    let held = numbers(0..<3).receive(on: queue).map { _ in DispatchQueue.getSpecific(key: key) }.watch(watcher)
    await watcher.waitForEnd()
    #expect(watcher.values == [7, 7, 7])
    held.cancel()
  }

  @Test func `cancelling drops what waits for the queue`() async {
    let queue = DispatchQueue(label: "held")
    queue.suspend()
    let watcher = Watcher<Int>()
    let held = numbers(0..<100).receive(on: queue).watch(watcher)
    held.cancel()
    queue.resume()
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    #expect(watcher.values.isEmpty && watcher.end == nil)
  }

  @Test func `a shared publisher is subscribed once, and cancelled with its last subscriber`() async {
    let (sequence, source) = AsyncStream<Int>.makeStream()
    let (terminations, terminated) = AsyncStream<Void>.makeStream()
    source.onTermination = { _ in terminated.yield() }
    let maps = Counted()
    let shared = Martlet.Publisher.create(sequence)
      .map { number in
        maps.add()
        return number
      }
      .share()
    let (first, second) = (Watcher<Int>(), Watcher<Int>())
    let held = shared.watch(first)
    let held2 = shared.watch(second)
    for number in 0..<600 { source.yield(number) }
    await first.wait(for: 600)
    await second.wait(for: 600)
    #expect(maps.count == 600)
    held.cancel()
    source.yield(600)
    await second.wait(for: 601)
    #expect(first.values.count == 600)
    held2.cancel()
    var ends = terminations.makeAsyncIterator()
    await ends.next()
    #expect(second.values == Array(0...600) && second.end == nil)
  }

  @Test func `a failure can become a last value, and values go into a property`() async {
    let shown = Shown()
    let (ends, ended) = AsyncStream<Void>.makeStream()
    shown.onChange = { if $0 == -1 { ended.finish() } }
    let held = numbers(0..<5, failing: true).replaceError(with: -1).assign(to: \.number, on: shown)
    for await _ in ends {}
    #expect(shown.numbers == [0, 1, 2, 3, 4, -1])
    held.cancel()
  }

  @Test func `the closure for values alone is for publishers that cannot fail`() async {
    let watcher = Watcher<Int>()
    let held = numbers(0..<3, failing: true).replaceError(with: 9).sink { watcher.take($0) }
    await watcher.wait(for: 4)
    #expect(watcher.values == [0, 1, 2, 9])
    held.cancel()
  }
}

/// Something with a property, set by one thread at a time.
private final class Shown: @unchecked Sendable {
  private let seen = Mutex<[Int]>([])
  var onChange: (Int) -> Void = { _ in }
  var numbers: [Int] { seen.withLock { $0 } }
  var number = 0 {
    didSet {
      seen.withLock { $0.append(number) }
      onChange(number)
    }
  }
}
