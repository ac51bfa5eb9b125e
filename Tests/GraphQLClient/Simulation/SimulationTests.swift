import Foundation
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import Testing

@Suite struct SimulationTests {
  /// An actor and tasks that talk over the imaginary network, recorded.
  private static func history(seed: UInt64) throws -> (entries: [SimulatedHistory.Entry], foreign: Int) {
    let executor = SimulatedExecutor(seed: seed)
    let network = SimulatedNetwork(executor)
    network.conditions.chunkBytes = 7
    let serverLoops = [executor.makeLoop("server 1"), executor.makeLoop("server 2")]
    let listener = network.listen(on: serverLoops) { Echo($0) }
    let port = listener.port
    try executor.run {
      await withTaskGroup(of: Void.self) { group in
        for number in 1...5 {
          group.addTask {
            let loop = executor.makeLoop("client \(number)")
            let text = [UInt8](repeating: UInt8(number), count: 100 * number)
            let answer = await Asker.ask(text, port: port, on: loop, over: network)
            executor.record("client \(number) heard \(answer.count)")
            await executor.sleep(.milliseconds(number))
          }
        }
      }
    }
    return (executor.history.entries, executor.foreignEnqueues)
  }

  @Test func `the same seed gives the same history, and nothing comes from other threads`() throws {
    for seed in [1, 2, 3] as [UInt64] {
      let first = try Self.history(seed: seed)
      let second = try Self.history(seed: seed)
      #expect(first.entries == second.entries)
      #expect(first.foreign == 0)
      #expect(first.entries.filter { $0.text.contains("heard") }.count == 5)
    }
    #expect(try Self.history(seed: 1).entries != Self.history(seed: 2).entries)
  }

  @Test func `work from a foreign thread is counted`() throws {
    let executor = SimulatedExecutor(seed: 1)
    let loop = executor.makeLoop()
    try executor.run {
      // A thread of its own: the pool may have no other, and this test holds one of it.
      Thread.detachNewThread { loop.execute { executor.record("from outside") } }
      executor.spin(while: { executor.foreignEnqueues == 0 })
    }
    #expect(executor.foreignEnqueues > 0)
  }

  @Test func `virtual time jumps to the next timer and timers fire in order`() throws {
    let executor = SimulatedExecutor(seed: 9)
    let loop = executor.makeLoop()
    loop.execute {
      for seconds in [3, 1, 2] {
        loop.schedule(at: loop.now + .seconds(seconds)) { executor.record("timer \(seconds)") }
      }
      loop.schedule(at: loop.now + .seconds(1)) { executor.record("cancelled") }.cancel()
    }
    executor.run(for: .seconds(10))
    #expect(executor.history.entries.map(\.text) == ["timer 1", "timer 2", "timer 3"])
    #expect(executor.history.entries.map(\.at.nanoseconds) == [1, 2, 3].map { $0 * 1_000_000_000 })
    #expect(executor.now == .zero + .seconds(10))
  }

  @Test func `a body that can never continue is reported as stuck`() {
    let executor = SimulatedExecutor(seed: 1)
    #expect(throws: SimulationStuck.self) {
      try executor.run { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }
  }

  @Test func `a stream is cut at exactly the byte that was asked for`() throws {
    for cut in [1, 17, 99] {
      let executor = SimulatedExecutor(seed: UInt64(cut))
      let network = SimulatedNetwork(executor)
      let loop = executor.makeLoop()
      let received = Counter()
      let listener = network.listen(on: [loop]) { _ in received }
      let sender = Sender()
      let port = listener.port
      loop.execute {
        sender.send([UInt8](repeating: 1, count: 100), to: port, on: loop, over: network, cutAfter: cut)
      }
      executor.run(for: .seconds(1))
      #expect(received.bytes <= cut)
      #expect(received.ended == .failure("connection reset"))
      #expect(sender.ended == .failure("connection reset"))
    }
  }

  @Test func `a reader that stops leaves the writer with pending bytes`() throws {
    let executor = SimulatedExecutor(seed: 4)
    let network = SimulatedNetwork(executor)
    network.conditions.windowBytes = 1_000
    let loop = executor.makeLoop()
    let received = Counter(isReading: false)
    let listener = network.listen(on: [loop]) { channel in
      received.adopt(channel)
      return received
    }
    let sender = Sender()
    let port = listener.port
    loop.execute { sender.send([UInt8](repeating: 1, count: 5_000), to: port, on: loop, over: network) }
    executor.run(for: .seconds(1))
    #expect(received.bytes == 0)
    #expect(sender.channel?.pendingBytes == 4_000)
    loop.execute { received.channel?.isReading = true }
    executor.run(for: .seconds(1))
    #expect(received.bytes == 5_000)
    #expect(sender.drains == 1)
  }

  @Test func `what was sent during a partition arrives when it ends`() throws {
    let executor = SimulatedExecutor(seed: 4)
    let network = SimulatedNetwork(executor)
    let loop = executor.makeLoop()
    let received = Counter()
    let listener = network.listen(on: [loop]) { _ in received }
    let sender = Sender()
    let port = listener.port
    loop.execute { sender.send([1, 2, 3], to: port, on: loop, over: network) }
    executor.run(for: .seconds(1))
    network.conditions.isPartitioned = true
    loop.execute { sender.channel?.write { $0.append([4, 5]) } }
    executor.run(for: .seconds(60))
    #expect(received.bytes == 3)
    network.conditions.isPartitioned = false
    executor.run(for: .seconds(1))
    #expect(received.bytes == 5)
  }
}

extension SimulatedExecutor {
  /// Blocks until the condition fails: only to let another thread act.
  fileprivate func spin(while condition: () -> Bool) {
    while condition() {}
  }
}

/// Sends back what it receives. Confined to its loop.
private final class Echo: ByteChannelHandler {
  private let channel: any ByteChannel
  init(_ channel: any ByteChannel) { self.channel = channel }
  func received(_ bytes: borrowing RawSpan) {
    let copy = (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    channel.write { $0.append(copy) }
  }
  func drained() {}
  func closed(_ reason: ChannelCloseReason) {}
}

/// Sends text and waits for as much back.
private final class Asker: ByteChannelHandler {
  private var answer: [UInt8] = []
  private let expected: Int
  private let done: CheckedContinuation<[UInt8], Never>
  private var channel: (any ByteChannel)?

  init(expected: Int, done: CheckedContinuation<[UInt8], Never>) {
    self.expected = expected
    self.done = done
  }

  static func ask(
    _ text: [UInt8], port: Int, on loop: SimulatedLoop, over network: SimulatedNetwork
  ) async -> [UInt8] {
    await withCheckedContinuation { continuation in
      loop.execute {
        let asker = Asker(expected: text.count, done: continuation)
        _ = network.connect(
          to: ConnectionTarget(host: "server", port: port, isSecure: false), on: loop, handler: asker
        ) { result in
          asker.channel = try? result.get()
          asker.channel?.write { $0.append(text) }
        }
      }
    }
  }

  func received(_ bytes: borrowing RawSpan) {
    for index in 0..<bytes.byteCount { answer.append(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    if answer.count == expected { channel?.abort() }
  }
  func drained() {}
  func closed(_ reason: ChannelCloseReason) { done.resume(returning: answer) }
}

/// Counts what arrives. Touched only inside the pump and after it, hence unchecked.
private final class Counter: ByteChannelHandler, @unchecked Sendable {
  var bytes = 0
  var ended: ChannelCloseReason?
  var channel: (any ByteChannel)?
  private let isReading: Bool
  init(isReading: Bool = true) { self.isReading = isReading }
  func adopt(_ channel: any ByteChannel) {
    self.channel = channel
    channel.isReading = isReading
  }
  func received(_ span: borrowing RawSpan) { bytes += span.byteCount }
  func drained() {}
  func closed(_ reason: ChannelCloseReason) { ended = reason }
}

/// Sends once connected. As `Counter`.
private final class Sender: ByteChannelHandler, @unchecked Sendable {
  var channel: (any ByteChannel)?
  var ended: ChannelCloseReason?
  var drains = 0
  func send(
    _ bytes: [UInt8], to port: Int, on loop: SimulatedLoop, over network: SimulatedNetwork, cutAfter: Int? = nil
  ) {
    _ = network.connect(
      to: ConnectionTarget(host: "server", port: port, isSecure: false), on: loop, handler: self
    ) { result in
      self.channel = try? result.get()
      network.links.last?.bytesUntilCut = cutAfter
      self.channel?.write { $0.append(bytes) }
    }
  }
  func received(_ span: borrowing RawSpan) {}
  func drained() { drains += 1 }
  func closed(_ reason: ChannelCloseReason) { ended = reason }
}
