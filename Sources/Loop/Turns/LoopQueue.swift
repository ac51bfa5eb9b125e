internal import MartletRuntime

/// One piece of work for a loop.
enum LoopItem: Sendable {
  /// A partial task of Swift's concurrency runtime.
  case job(UnownedJob)
  case work(@Sendable () -> Void)
}

/// What other threads hand to a loop, and whether they must wake it: at most once per sleep.
///
/// The loop marks itself asleep under the lock and only when nothing waits, so that the thread that adds the first item
/// afterwards sees the mark, and all others save the system call. A busy loop is never woken: it looks before it
/// sleeps.
final class LoopQueue: Sendable {
  private struct State {
    var items: [LoopItem] = []
    var isAsleep = false
    var wakes = 0
  }

  private let state = Lock(State())

  /// Adds an item and answers whether the caller must wake the loop.
  func add(_ item: LoopItem) -> Bool {
    state.withLock { state in
      state.items.append(item)
      guard state.isAsleep else { return false }
      state.isAsleep = false
      state.wakes += 1
      return true
    }
  }

  /// Marks the loop asleep and answers true, unless something waits for it.
  func fallAsleep() -> Bool {
    state.withLock { state in
      state.isAsleep = state.items.isEmpty
      return state.isAsleep
    }
  }

  /// Marks the loop awake and exchanges the waiting items for `spare`, an empty array whose storage is used again.
  func wakeUp(taking spare: inout [LoopItem]) {
    state.withLock { state in
      state.isAsleep = false
      if !state.items.isEmpty { swap(&state.items, &spare) }
    }
  }

  var wakes: Int { state.withLock { $0.wakes } }
}
