import CMartletAllocationCounter
import MartletLoop
import MartletModels
import MartletRuntime
import MartletServer
import MartletSockets
import MartletStore
import MartletTestSupport
import MartletVocabulary

/// The calendar of such a server; it stands still.
struct CountedCalendar: Sendable {
  var milliseconds: @Sendable () -> Int64 = { 1_700_000_000_000 }
}

/// A server put together by hand, so that its loops, its hubs and its writer can be counted.
final class CountedServer: Sendable {
  let node: ServerNode
  let loops: [EpollLoop]
  let hubs: [LoopBound<LoopServer>]
  let writer: HeldExecutor
  private let group: LoopGroup
  /// The clocks of the loops where the test moves them; empty otherwise.
  private let clocks: [ClockedLoop]
  private let listener: SocketListener

  var port: Int { listener.port }

  /// - Parameters:
  ///   - isClocked: whether time passes on the server's loops when `advance` says so.
  ///   - watch: sees where creates without identifiers are planned.
  init(
    schema: String, loops count: Int = 1, isClocked: Bool = false, watch: WriteWatch? = nil,
    calendar: CountedCalendar = CountedCalendar(), _ adjust: (inout ServerConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .development
    configuration.log = .silent
    // However slow the machine is, no timer may end a connection, or act while something is counted.
    configuration.limits.webSocket.connectionInitTimeout = .seconds(120)
    configuration.limits.webSocket.pingInterval = .seconds(600)
    configuration.limits.webSocket.pongTimeout = .seconds(600)
    configuration.limits.session.positionInterval = nil
    adjust(&configuration)
    let writer = HeldExecutor()
    self.writer = writer
    let clock = StoreClock(now: MonotonicClock.now, milliseconds: calendar.milliseconds)
    let options = StoreOptions(term: 77, clock: clock, writer: writer, readers: [StoreThread()])
    let node = try ServerAssembly.node(
      configuration,
      on: ServerAssembly.Surroundings(
        place: .emptyMemory, storeOptions: options, spawner: ConcurrentSpawner(),
        calendar: Calendar(
          milliseconds: calendar.milliseconds, generator: WatchedGenerator(watch: watch))))
    self.node = node
    let group = try LoopGroup.start(count: count)
    self.group = group
    loops = group.loops
    let metrics = MetricsCollector(node.store)
    let clocks = isClocked ? group.loops.map { ClockedLoop($0) } : []
    self.clocks = clocks
    let owners: [any Loop] = isClocked ? clocks : group.loops
    let hubs = owners.map { LoopBound(LoopServer(node, on: $0, metrics: metrics), on: $0) }
    self.hubs = hubs
    for hub in hubs { hub.loop.execute { hub.value.start() } }
    let loops = group.loops
    listener = try SocketListener.start(SocketListener.Options(), on: loops) { channel in
      guard let index = loops.firstIndex(where: { $0 === channel.loop }) else { return nil }
      let hub = hubs[index]
      return HTTPConnection(hub.value.transport, isClocked ? ClockedChannel(channel, on: hub.loop) : channel)
    }
  }

  /// Lets time pass on the server's loops.
  func advance(_ time: Duration) async {
    for clock in clocks { await clock.advance(time) }
  }

  /// What all loops together have done.
  struct Counts: Sendable {
    var loop = MartletLoop.LoopCounters()
    var hub = MartletServer.ServerCounters()
    /// Allocations on the loops' threads.
    var allocations = 0
    var writerCalls = 0

    static func - (later: Counts, earlier: Counts) -> Counts {
      var difference = later
      difference.loop.wakes -= earlier.loop.wakes
      difference.loop.sends -= earlier.loop.sends
      difference.loop.turns -= earlier.loop.turns
      difference.allocations -= earlier.allocations
      difference.writerCalls -= earlier.writerCalls
      difference.earlier = earlier.hub
      return difference
    }

    private var earlier = MartletServer.ServerCounters()
    subscript(counter: Counter) -> Int { hub[counter] - earlier[counter] }
  }

  func counts() async -> Counts {
    var sum = Counts()
    sum.writerCalls = writer.calls
    for (loop, hub) in zip(loops, hubs) {
      let part = await withCheckedContinuation { continuation in
        loop.execute {
          continuation.resume(
            returning: (loop.counters, hub.value.counters.counts, Int(martlet_thread_allocation_count())))
        }
      }
      sum.loop.wakes += part.0.wakes
      sum.loop.sends += part.0.sends
      sum.loop.turns += part.0.turns
      sum.hub.add(part.1)
      sum.allocations += part.2
    }
    return sum
  }

  /// Commits writes as one group, and returns when they are durable.
  func commit(_ operations: [WriteOperation]) async {
    writer.hold()
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      let share = Countdown(left: operations.count) { done.resume() }
      for operation in operations {
        node.store.commit(WriteRequest(operation)) { result in share.down() }
      }
      writer.release()
    }
  }

  func stop() async {
    listener.stop()
    for hub in hubs {
      await withCheckedContinuation { continuation in
        hub.loop.execute { hub.value.drain { continuation.resume() } }
      }
    }
    group.stop()
    node.store.close()
  }
}

/// Sees where creates of generated mutations get their identifiers.
struct WriteWatch: Sendable {
  /// Called when an identifier is drawn, where that happens.
  let onWrite: @Sendable () -> Void
}

private struct WatchedGenerator: RandomNumberGenerator, Sendable {
  let watch: WriteWatch?
  private var random = SeededRandom(seed: 5)

  init(watch: WriteWatch?) { self.watch = watch }

  mutating func next() -> UInt64 {
    watch?.onWrite()
    return random.next()
  }
}

/// Calls once, when it has been called often enough.
final class Countdown: Sendable {
  private let left: Lock<Int>
  private let done: @Sendable () -> Void

  init(left: Int, done: @escaping @Sendable () -> Void) {
    self.left = Lock(left)
    self.done = done
  }

  func down() {
    let isDone = left.withLock { left in
      left -= 1
      return left == 0
    }
    if isDone { done() }
  }
}

/// The store's writer thread, which can be held so that several writes meet in one group commit.
final class HeldExecutor: StoreExecutor {
  private struct State {
    var isHeld = false
    var waiting: [@Sendable () -> Void] = []
    var calls = 0
  }

  private let thread = StoreThread()
  private let state = Lock(State())

  /// How often the writer was called, which is the most it can have been woken.
  var calls: Int { state.withLock { $0.calls } }

  func execute(_ work: @escaping @Sendable () -> Void) {
    let runs = state.withLock { state in
      state.calls += 1
      if state.isHeld { state.waiting.append(work) }
      return !state.isHeld
    }
    if runs { thread.execute(work) }
  }

  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for work in waiting { thread.execute(work) }
  }

  func stop() {
    release()
    thread.stop()
  }
}
