internal import MartletRuntime

/// Reports one failure to one listener, whichever of the two comes first.
final class FailureSwitch: Sendable {
  private struct State {
    var reason: String?
    var action: (@Sendable (String) -> Void)?
  }

  private let state = Lock(State())

  func fail(_ reason: String) {
    let action = state.withLock { state in
      state.reason = reason
      return state.action
    }
    action?(reason)
  }

  func listen(_ action: @escaping @Sendable (String) -> Void) {
    let reason = state.withLock { state in
      state.action = action
      return state.reason
    }
    if let reason { action(reason) }
  }
}
