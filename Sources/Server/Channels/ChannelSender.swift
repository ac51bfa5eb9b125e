internal import MartletChannels

/// Delivers single events to one kind of target. Confined to its loop.
protocol ChannelSender: AnyObject {
  /// Whether anything is to be sent to this target now.
  func isEnabled(_ target: ChannelTarget) -> Bool
  /// Makes one attempt.
  ///
  /// - Parameter completion: called once, on the loop, after this has returned; not after the result was let go.
  func send(
    _ event: ChannelEvent, attempt: Int, to target: ChannelTarget, context: ChannelDefinition,
    _ completion: @escaping (AttemptOutcome) -> Void
  ) -> AnyObject
}

/// One attempt; given up when it is let go. Confined to its loop.
final class ChannelAttempt {
  var fetch: OutgoingFetch?
  private var completion: ((AttemptOutcome) -> Void)?

  init(_ completion: @escaping (AttemptOutcome) -> Void) {
    self.completion = completion
  }

  func end(_ outcome: AttemptOutcome) {
    let completion = completion
    self.completion = nil
    completion?(outcome)
  }

  func end(_ outcome: DeliveryMachine.Outcome) { end(.settled(outcome)) }
}
