package import MartletRuntime
package import MartletVocabulary

/// Another loop with a clock that the test moves: sockets are real, timers are not.
///
/// `@unchecked Sendable` holds because what changes is touched on the loop only.
package final class ClockedLoop: Loop, @unchecked Sendable {
  package let loop: any Loop
  private var instant = Instant(nanoseconds: 1_000_000_000)
  private var timers: [(deadline: Instant, number: Int, timer: LoopTimer)] = []
  /// Timers that were ever set.
  package private(set) var scheduled = 0

  package init(_ loop: any Loop) { self.loop = loop }

  package var now: Instant { instant }
  package var isCurrent: Bool { loop.isCurrent }
  package func execute(_ work: @escaping @Sendable () -> Void) { loop.execute(work) }
  package func atEndOfTurn(_ work: any TurnEnd) { loop.atEndOfTurn(work) }

  @discardableResult
  package func schedule(at deadline: Instant, _ work: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(work: work)
    scheduled += 1
    timers.append((deadline, scheduled, timer))
    return timer
  }

  /// Moves the clock, and fires what becomes due, each at its time.
  package func advance(_ time: Duration) async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      loop.execute {
        self.advanceNow(time)
        done.resume()
      }
    }
  }

  /// The same, on the loop.
  package func advanceNow(_ time: Duration) {
    let end = instant + time
    while let next = timers.filter({ !$0.timer.isCancelled }).min(by: {
      ($0.deadline, $0.number) < ($1.deadline, $1.number)
    }),
      next.deadline <= end
    {
      timers.removeAll { $0.number == next.number || $0.timer.isCancelled }
      if next.deadline > instant { instant = next.deadline }
      next.timer.fire()
    }
    instant = end
  }
}

/// A stream of bytes that says it belongs to another loop.
package final class ClockedChannel: ByteChannel {
  private let channel: any ByteChannel
  package let loop: any Loop

  package init(_ channel: any ByteChannel, on loop: any Loop) {
    self.channel = channel
    self.loop = loop
  }

  package var peer: String { channel.peer }
  package var peerIsLoopback: Bool { channel.peerIsLoopback }
  package var pendingBytes: Int { channel.pendingBytes }
  package var reading: PeerReading? { channel.reading }
  package func write(_ body: (inout OutboundBuffer) -> Void) { channel.write(body) }
  package var isReading: Bool {
    get { channel.isReading }
    set { channel.isReading = newValue }
  }
  package func closeAfterFlush() { channel.closeAfterFlush() }
  package func abort() { channel.abort() }
}
