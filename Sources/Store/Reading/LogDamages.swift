internal import MartletRuntime

/// Entries of a log that cannot be read, are not what was written, or are missing.
package struct LogDamage: Sendable, Equatable {
  /// The first of them.
  package let offset: Int64
  package let reason: String

  package init(offset: Int64, reason: String) {
    self.offset = offset
    self.reason = reason
  }
}

/// The damage that readers of one log have met. From any thread.
package final class LogDamages: Sendable {
  private struct State {
    var offsets: Set<Int64> = []
    var newest: Int64?
  }

  private let state = Lock(State())
  private let onDamage: @Sendable (LogDamage) -> Void
  /// Offsets that are remembered, so that each is reported once however many readers meet it.
  private let reported: Int

  /// - Parameters:
  ///   - reported: Offsets that are reported; further ones are not.
  ///   - onDamage: called once for each offset.
  package init(reported: Int, _ onDamage: @escaping @Sendable (LogDamage) -> Void) {
    self.reported = reported
    self.onDamage = onDamage
  }

  /// A reader has met damage.
  package func note(_ damage: LogDamage) {
    let isNew = state.withLock { state in
      state.newest = max(state.newest ?? damage.offset, damage.offset)
      return state.offsets.count < reported && state.offsets.insert(damage.offset).inserted
    }
    if isNew { onDamage(damage) }
  }

  /// Offsets at which the log is known to be damaged.
  package var count: Int { state.withLock { $0.offsets.count } }

  /// The newest of them, unless it is before `first`, the oldest offset that is kept: then no cursor leads to it.
  package func newest(since first: Int64) -> Int64? {
    state.withLock { state in state.newest.flatMap { $0 >= first ? $0 : nil } }
  }
}
