public import MartletVocabulary

/// The side of a subscription that a transport reports to: its events, and the changes of its state.
///
/// Usable from any thread; calls after its end do nothing. It keeps the consumer's stream no longer than the
/// consumer does: `onCancel` is called when the consumer has left.
public struct SubscriptionFeed: Sendable {
  package let core: SubscriptionCore

  package init(_ core: SubscriptionCore) {
    self.core = core
  }

  /// What to do when the consumer leaves, and when a consumer that was too slow has room again. Set once, before
  /// `subscribe` returns.
  public func onCancel(_ cancel: @escaping @Sendable () -> Void, onRoom: @escaping @Sendable () -> Void = {}) {
    core.connect(onCancel: cancel, onRoom: onRoom)
    // The consumer may have left before.
    if core.state.isFinished { cancel() }
  }

  /// The subscription is under way; `isConfirmed` when the server itself said so.
  public func activate(isConfirmed: Bool = false) {
    core.move(to: .active, isConfirmed: isConfirmed)
  }

  /// The connection was lost and is being made again.
  public func reconnect() {
    core.move(to: .reconnecting)
  }

  /// An event. True asks the transport to stop reading until `onRoom`. `endsTransaction` is false while more of the
  /// event's transaction follows, with servers that say so.
  @discardableResult
  public func yield(_ payload: OperationPayload, cursor: Cursor? = nil, endsTransaction: Bool = true) -> Bool {
    core.deliver(SubscriptionEvent(payload: payload.bytes, cursor: cursor, endsTransaction: endsTransaction))
  }

  /// Events are missing here.
  @discardableResult
  public func yield(gap: EventGap) -> Bool {
    core.deliver(SubscriptionEvent(gap: gap))
  }

  /// The server completed the subscription, or it failed.
  public func finish(throwing error: (any Error)? = nil) {
    core.move(to: .finished(error.map { .error($0) } ?? .completed))
  }

  /// Whether it is over.
  public var isFinished: Bool { core.state.isFinished }
}
