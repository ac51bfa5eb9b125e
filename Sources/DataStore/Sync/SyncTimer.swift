internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// Calls closures at given times, on a thread of its own that sleeps in between.
final class SyncTimer: SyncTiming {
  private struct State {
    var entries: [TimerName: (deadline: Instant, fire: @Sendable () -> Void)] = [:]
    var isOver = false
  }

  private let state = Lock(State())
  private let bell = Bell()
  private let thread = StoreThread()

  init() {
    thread.execute { [state, bell] in
      while true {
        let (isOver, deadline) = state.withLock { ($0.isOver, $0.entries.values.map(\.deadline).min()) }
        if isOver { return }
        guard let deadline else {
          bell.wait()
          continue
        }
        if bell.wait(until: deadline) { continue }
        let due = state.withLock { state in
          let names = state.entries.filter { $0.value.deadline <= deadline }.keys.sorted { $0.rawValue < $1.rawValue }
          return names.compactMap { state.entries.removeValue(forKey: $0)?.fire }
        }
        for fire in due { fire() }
      }
    }
  }

  func set(_ name: TimerName, _ deadline: Instant, _ fire: @escaping @Sendable () -> Void) {
    state.withLock { $0.entries[name] = (deadline, fire) }
    bell.ring()
  }

  deinit {
    state.withLock { state in
      state.isOver = true
      state.entries = [:]
    }
    bell.ring()
    thread.end()
  }
}
