internal import MartletRuntime

/// Why groups are not written, and how often.
final class StoreTroubles: Sendable {
  private struct State {
    var present: StoreError?
    var fullDisks = 0
  }

  private let state = Lock(State())
  private let onChange: @Sendable (StoreError?) -> Void

  init(_ onChange: @escaping @Sendable (StoreError?) -> Void) {
    self.onChange = onChange
  }

  /// Why the last group was not written; nil when it was.
  var present: StoreError? { state.withLock { $0.present } }

  /// Groups that a full disk refused.
  var fullDisks: Int { state.withLock { $0.fullDisks } }

  /// Keeps what came of a group, and reports a change of it.
  func note(_ trouble: StoreError?) {
    let isNew = state.withLock { state in
      if trouble?.code == .diskFull { state.fullDisks += 1 }
      defer { state.present = trouble }
      return state.present?.code != trouble?.code
    }
    if isNew { onChange(trouble) }
  }
}
