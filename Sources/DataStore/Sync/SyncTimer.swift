internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// Calls a closure at a time, on a thread of its own that sleeps in between.
final class SyncTimer: Sendable {
  private struct State {
    var deadline: Instant?
    var fire: (@Sendable () -> Void)?
    var isOver = false
  }

  private let state = Lock(State())
  private let bell = Bell()
  private let thread = StoreThread()

  init() {
    thread.execute { [state = self.state, bell] in
      while true {
        let (isOver, deadline) = state.withLock { ($0.isOver, $0.deadline) }
        if isOver { return }
        guard let deadline else {
          bell.wait()
          continue
        }
        if bell.wait(until: deadline) { continue }
        let fire = state.withLock { state -> (@Sendable () -> Void)? in
          guard state.deadline == deadline else { return nil }
          state.deadline = nil
          return state.fire
        }
        fire?()
      }
    }
  }

  /// Calls `fire` at `deadline`, in place of what was set before.
  func set(_ deadline: Instant, _ fire: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.deadline = deadline
      state.fire = fire
    }
    bell.ring()
  }

  deinit {
    state.withLock { state in
      state.isOver = true
      state.fire = nil
    }
    bell.ring()
    thread.end()
  }
}
