import Martlet
import MartletCommandLine
import MartletRuntime

/// Says why a subscription has no connection while it is tried again, in the sentence that commands end with for the
/// same cause, once for each cause. What waiting cannot repair ends the subscription.
final class ConnectionReport: Sendable {
  private struct State {
    var said: String?
    /// The reason that was looked into.
    var reason: String?
    var wasConnected = false
    var verdict: CommandFailure?
  }

  private let state = Lock(State())
  private let remote: Remote
  private let stream: SubscriptionStream<GraphQLResponse<JSONValue>>

  init(_ remote: Remote, _ stream: SubscriptionStream<GraphQLResponse<JSONValue>>) {
    self.remote = remote
    self.stream = stream
  }

  /// Why the subscription was ended here.
  var verdict: CommandFailure? { state.withLock { $0.verdict } }

  /// Whether a person has read this sentence already.
  func hasSaid(_ sentence: String) -> Bool { state.withLock { $0.said == sentence } }

  func follow(_ events: AsyncStream<ConnectionEvent>) async {
    for await event in events {
      switch event {
      case .disconnected(nil, let reason): await explain(reason)
      case .connected, .reconnected:
        state.withLock { state in
          state.said = nil
          state.reason = nil
          state.wasConnected = true
        }
      case .disconnected, .ping, .pong: break
      }
    }
  }

  private func explain(_ reason: String) async {
    let isNew = state.withLock { state in
      defer { state.reason = reason }
      return state.reason != reason
    }
    guard isNew else { return }
    let found = await remote.diagnosis()
    // Its end says why.
    guard !stream.state.isFinished else { return }
    let failure = remote.failure(found)
    let line = failure?.message ?? "No connection: \(reason)."
    let isOver = state.withLock { state in
      guard !state.wasConnected, !found.mayPass else { return false }
      state.verdict = failure
      return failure != nil
    }
    if isOver { return stream.cancel() }
    let isUnsaid = state.withLock { state in
      defer { state.said = line }
      return state.said != line
    }
    if isUnsaid { Console.error(line) }
  }
}
