internal import MartletDataStore
internal import MartletRuntime
internal import MartletSimulation
internal import MartletStore
internal import MartletVocabulary

/// The server's writer or one of its readers: what is given runs before the call returns, or after what runs now.
///
/// `@unchecked Sendable` holds because only the pump of the simulation's executor uses it.
final class ServerLane: StoreExecutor, @unchecked Sendable {
  private var queue: [@Sendable () -> Void] = []
  private var isRunning = false

  func execute(_ work: @escaping @Sendable () -> Void) {
    queue.append(work)
    guard !isRunning else { return }
    isRunning = true
    while !queue.isEmpty { queue.removeFirst()() }
    isRunning = false
  }

  func stop() {}
}

/// The thread of a client's store: a lane of the simulation. After each piece of work `look` is called, which may end
/// the process.
///
/// `@unchecked Sendable` holds because only the pump of the simulation's executor uses it.
final class ClientLane: StoreLane, @unchecked Sendable {
  private let loop: SimulatedLoop
  private let look: @Sendable () -> Void

  init(_ loop: SimulatedLoop, _ look: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.look = look
  }

  func execute(_ work: @escaping @Sendable () -> Void) {
    loop.execute { [look] in
      work()
      look()
    }
  }

  func stop() {}
  func end() {}
}

/// The timer of a client's store, in virtual time.
///
/// `@unchecked Sendable` holds because only the pump of the simulation's executor uses it.
final class ClientTimer: SyncTiming, @unchecked Sendable {
  private let loop: SimulatedLoop
  private var timers: [TimerName: LoopTimer] = [:]

  init(_ loop: SimulatedLoop) { self.loop = loop }

  func set(_ name: TimerName, _ deadline: Instant, _ fire: @escaping @Sendable () -> Void) {
    timers[name]?.cancel()
    timers[name] = loop.schedule(at: deadline) { fire() }
  }
}
