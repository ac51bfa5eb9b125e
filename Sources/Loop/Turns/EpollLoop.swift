internal import CMartletSystem
package import MartletRuntime
package import MartletVocabulary
internal import Synchronization

/// The production loop: one thread, one readiness queue, its connections, timers and posted work.
///
/// It is also the `SerialExecutor` and `TaskExecutor` of what lives on it, so that an actor on the loop is called
/// without a thread change (EpollLoop+executor.swift).
///
/// A turn: wait for readiness or the next timer; read the clock; serve the ready descriptors; run the work that was
/// posted before the turn; fire due timers; then what registered for the end of the turn, which is where connections
/// send; close some of the connections that wait to be closed.
///
/// `@unchecked Sendable` holds because everything below the mark is touched only by the loop's own thread (checked by
/// `isCurrent` where a caller could get it wrong); what stands above it is a constant, an atomic or under a lock.
package final class EpollLoop: DescriptorLoop, @unchecked Sendable {
  package let name: String
  package let limits: LoopLimits
  /// The system calls of this loop's sockets; tests put faults here.
  package let calls: any SocketCalls
  let queue = LoopQueue()
  private let waker: Waker
  private let threadID = Atomic<UInt>(0)
  private let isStopping = Atomic<Bool>(false)
  private let ended = Bell()

  // The loop's thread only, from here on.
  private var poller: Poller
  private var turnStart = MonotonicClock.now()
  private var line = ReadyLine()
  private var timers = TimerHeap()
  private var slots = WatchSlots()
  var local = WorkFIFO()
  private var taken: [LoopItem] = []
  private var turnEnds: [any TurnEnd] = []
  private var pool: BufferPool
  package var ownCounters = LoopCounters()
  package let handshakes: HandshakeGate
  package let closings: ClosingGate
  /// Where every connection of the loop reads into; valid until the next read.
  package let scratch: ReadScratch
  /// Where TLS puts plain text; valid until the next record.
  package let plainScratch: ReadScratch

  /// Starts a loop on a thread of its own.
  /// - Throws: when the system has no descriptors or threads left.
  package static func start(
    name: String = "loop", limits: LoopLimits = LoopLimits(), calls: any SocketCalls = KernelCalls()
  ) throws(SocketError) -> EpollLoop {
    let loop = try EpollLoop(name: name, limits: limits, calls: calls)
    // The thread keeps the loop alive until it has stopped.
    let ended = loop.ended
    guard LoopThread.start(name: name, { loop.run() }, then: { ended.ring() }) else {
      loop.poller.close()
      throw SocketError(code: 11, operation: "pthread_create")
    }
    return loop
  }

  private init(name: String, limits: LoopLimits, calls: any SocketCalls) throws(SocketError) {
    self.name = name
    self.limits = limits
    self.calls = calls
    poller = try Poller(capacity: limits.eventsPerTurn)
    waker = poller.waker
    pool = BufferPool(limits: limits)
    handshakes = HandshakeGate(perTurn: limits.handshakesPerTurn)
    closings = ClosingGate(perTurn: limits.closingsPerTurn)
    scratch = ReadScratch(count: limits.readBytes)
    plainScratch = ReadScratch(count: 16_384)
  }

  // MARK: Loop

  package var now: Instant { isCurrent ? turnStart : MonotonicClock.now() }

  package var lag: Duration {
    precondition(isCurrent, "a loop's lag is read on the loop")
    return line.lag(at: turnStart)
  }

  package var isCurrent: Bool {
    threadID.load(ordering: .relaxed) == ThreadMark.current.bits
  }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    post(.work(work))
  }

  @discardableResult
  package func schedule(at deadline: Instant, _ work: @escaping () -> Void) -> LoopTimer {
    precondition(isCurrent, "a loop's timers are set on the loop")
    let timer = LoopTimer(work: work)
    timers.insert(timer, at: deadline)
    return timer
  }

  package func atEndOfTurn(_ work: any TurnEnd) {
    precondition(isCurrent, "the end of a turn is registered for on the loop")
    turnEnds.append(work)
  }

  // MARK: Counters and life

  /// What the loop has done; on the loop only.
  package var counters: LoopCounters {
    precondition(isCurrent, "a loop's counters are read on the loop")
    var counters = ownCounters
    counters.wakes = queue.wakes
    return counters
  }

  /// Descriptors watched now; on the loop only.
  package var watchCount: Int { slots.count }

  /// Ends the loop after its current turn: open connections are dropped, timers and later work never run. From any
  /// thread; `waitUntilStopped` returns when it is done.
  package func stop() {
    isStopping.store(true, ordering: .releasing)
    post(.work {})
  }

  /// Blocks until the loop's thread has ended. Not on a loop.
  package func waitUntilStopped() {
    precondition(!isCurrent, "a loop cannot wait for its own end")
    ended.wait()
    ended.ring()  // for any other caller
  }

  // MARK: Work from anywhere

  func post(_ item: LoopItem) {
    if isCurrent {
      local.append(item)
    } else if queue.add(item) {
      waker.wake()
    }
  }

  // MARK: The turn

  private func run() {
    threadID.store(ThreadMark.current.bits, ordering: .relaxed)
    while !isStopping.load(ordering: .acquiring) { turn() }
    for handler in slots.handlers { (handler as? any LoopOwned)?.loopStops() }
    endTurn()
    closings.closeAll()
    endTurn()
    // Timers and work hold objects that hold the loop. Dropped, they let a stopped server's files be closed.
    timers = TimerHeap()
    slots = WatchSlots()
    local = WorkFIFO()
    poller.close()
    threadID.store(0, ordering: .relaxed)
  }

  private func turn() {
    let timeout = sleepTime()
    let count = poller.wait(milliseconds: timeout)
    turnStart = MonotonicClock.now()
    ownCounters.turns += 1
    if count == poller.capacity {
      let hasMark = poller.hasMark(among: count)
      if line.turn(isFull: count > 1 || !hasMark, hasMark: hasMark, at: turnStart) { poller.setMark() }
    } else {
      line = ReadyLine()
    }
    closings.begin()
    takePosted()
    // What is posted from here on waits for the next turn, after this turn's sends: so slices of long work let
    // sockets be served in between, and a writer that waits for room looks when there may be some.
    let due = min(limits.jobsPerTurn, local.count)
    for index in 0..<count {
      guard let event = poller.event(index), let handler = slots.handler(for: event.token) else { continue }
      handler.ready(event.readiness)
    }
    runPosted(due)
    fireTimers()
    endTurn()
    closeSome()
  }

  /// Milliseconds to wait: none when work is left, else until the next timer, rounded up so as never to spin.
  private func sleepTime() -> Int32 {
    guard local.isEmpty, closings.count == 0, queue.fallAsleep() else { return 0 }
    guard let deadline = timers.nextDeadline else { return -1 }
    let left = deadline.nanoseconds.subtractingReportingOverflow(MonotonicClock.now().nanoseconds)
    guard !left.overflow, left.partialValue > 0 else { return left.overflow ? 60_000 : 0 }
    return Int32(min(left.partialValue / 1_000_000 + 1, 60_000))
  }

  private func takePosted() {
    queue.wakeUp(taking: &taken)
    for item in taken { local.append(item) }
    taken.removeAll(keepingCapacity: true)
  }

  private func runPosted(_ due: Int) {
    for _ in 0..<due {
      guard let item = local.popFirst() else { return }
      ownCounters.jobs += 1
      run(item)
    }
  }

  private func fireTimers() {
    // Due ones are taken first: a timer set by a timer waits for the next turn, so that turns end.
    var due: [LoopTimer] = []
    while let timer = timers.popDue(turnStart) { due.append(timer) }
    for timer in due where !timer.isCancelled {
      ownCounters.timers += 1
      timer.fire()
    }
  }

  /// After the turn's answers have been sent.
  private func closeSome() {
    guard closings.count > 0 else { return }
    closings.closeSome()
    endTurn()
  }

  private func endTurn() {
    var index = 0
    // What is written while the turn ends is sent in the same end: TLS hands its records to the socket below this way.
    while index < turnEnds.count {
      let end = turnEnds[index]
      index += 1
      end.turnEnded()
    }
    turnEnds.removeAll(keepingCapacity: true)
  }

  // MARK: Descriptors

  package func watch(_ descriptor: Int32, for interest: Readiness, handler: any ReadinessHandler) -> WatchToken? {
    precondition(isCurrent, "descriptors are watched on the loop")
    let token = slots.insert(handler)
    guard poller.add(descriptor, interest, token: token) else {
      slots.remove(token)
      return nil
    }
    return WatchToken(rawValue: token)
  }

  package func rewatch(_ token: WatchToken, _ descriptor: Int32, for interest: Readiness) {
    precondition(isCurrent, "descriptors are watched on the loop")
    poller.modify(descriptor, interest, token: token.rawValue)
  }

  package func unwatch(_ token: WatchToken, _ descriptor: Int32) {
    precondition(isCurrent, "descriptors are watched on the loop")
    if slots.remove(token.rawValue) { poller.remove(descriptor) }
  }

  // MARK: Buffers

  package func takeBuffer() -> OutboundBuffer {
    let (buffer, isNew) = pool.take()
    if isNew { ownCounters.buffersMade += 1 }
    return buffer
  }

  package func giveBuffer(_ buffer: consuming OutboundBuffer) {
    pool.give(buffer)
  }
}
