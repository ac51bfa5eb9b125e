import Martlet
import MartletCommandLine
import MartletRuntime

/// Says how a subscription stands. It is called live only once the server has said so itself, by a confirmation or by
/// an event: a connection that is open may still bring a refusal.
final class SubscriptionReport: Sendable {
  private let hasSpoken = Lock(false)
  private let stream: SubscriptionStream<GraphQLResponse<JSONValue>>

  /// How long a confirmation may take before a person reads that there is none: long beside a request, short beside a
  /// person's patience.
  private static let patience = Duration.seconds(2)
  private static let pause = Duration.milliseconds(10)

  init(_ stream: SubscriptionStream<GraphQLResponse<JSONValue>>) {
    self.stream = stream
  }

  func follow(_ states: AsyncStream<SubscriptionState>) async {
    var waiting: Task<Void, Never>?
    for await state in states {
      waiting?.cancel()
      switch state {
      case .pending, .paused, .finished: break
      case .active: waiting = Task { await awaitConfirmation() }
      case .reconnecting:
        hasSpoken.withLock { $0 = false }
        Console.error("The connection was lost; reconnecting.")
      }
    }
    waiting?.cancel()
  }

  /// An event has come.
  func heard() { say("Subscribed.") }

  private func awaitConfirmation() async {
    let end = ContinuousClock.now + Self.patience
    while ContinuousClock.now < end {
      if stream.isConfirmed { return heard() }
      do { try await Task.sleep(for: Self.pause) } catch { return }
    }
    if !Task.isCancelled, !stream.state.isFinished { say("The subscription was sent. The server does not confirm it.") }
  }

  /// Once for each connection.
  private func say(_ line: String) {
    let isFirst = hasSpoken.withLock { hasSpoken in
      defer { hasSpoken = true }
      return !hasSpoken
    }
    if isFirst { Console.error(line) }
  }
}
