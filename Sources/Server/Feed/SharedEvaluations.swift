internal import MartletChangeFeed
internal import MartletRuntime

/// Payloads that take reads or user code, made once for all loops of a node that follow the same log.
///
/// The first feed that needs a payload makes it on its own loop; feeds that need it meanwhile wait for its bytes, and
/// those that come later, or catch up, find them here until newer ones take their room. So no loop has to know where
/// else a group has members. From any thread.
package final class SharedEvaluations: Sendable {
  /// One event for one group of equal subscriptions.
  struct Key: Hashable {
    let group: GroupKey
    let offset: Int64
  }

  /// What a feed does that needs a payload.
  enum Answer {
    /// Makes it and calls `finish`.
    case evaluate
    /// Waits until its closure is called.
    case wait
    case payload([UInt8])
  }

  private enum Entry {
    case running([@Sendable ([UInt8]) -> Void])
    case done([UInt8])
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// The payloads that are kept, oldest first.
    var kept: [Key] = []
    var bytes = 0
  }

  private let state = Lock(State())
  private let capacity: Int
  private let largestCount: Int

  /// - Parameters:
  ///   - capacity: Bytes of payloads kept. The newest stays, even when it alone is larger.
  ///   - largestCount: Payloads kept, however small: how far one loop may lag another.
  package init(capacity: Int = 1_048_576, largestCount: Int = 256) {
    self.capacity = capacity
    self.largestCount = largestCount
  }

  func begin(_ key: Key, waiter: @escaping @Sendable ([UInt8]) -> Void) -> Answer {
    state.withLock { state in
      switch state.entries[key] {
      case .done(let payload): return .payload(payload)
      case .running(let waiters):
        state.entries[key] = .running(waiters + [waiter])
        return .wait
      case nil:
        state.entries[key] = .running([])
        return .evaluate
      }
    }
  }

  /// The payload has been made: hands it to the feeds that wait.
  func finish(_ key: Key, _ payload: [UInt8]) {
    let waiters = state.withLock { state -> [@Sendable ([UInt8]) -> Void] in
      guard case .running(let waiters) = state.entries[key] else { return [] }
      state.entries[key] = .done(payload)
      state.kept.append(key)
      state.bytes += payload.count
      while state.kept.count > 1, state.bytes > capacity || state.kept.count > largestCount {
        if case .done(let old) = state.entries.removeValue(forKey: state.kept.removeFirst()) {
          state.bytes -= old.count
        }
      }
      return waiters
    }
    for waiter in waiters { waiter(payload) }
  }
}
