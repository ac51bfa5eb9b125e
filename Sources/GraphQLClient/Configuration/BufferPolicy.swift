/// What happens when a subscription's consumer is slower than its events.
public struct BufferPolicy: Sendable, Hashable {
  /// What to do with the event that does not fit.
  public enum Overflow: Sendable, Hashable {
    /// Stop reading from the socket until the consumer has caught up. Nothing is lost; other subscriptions of the same
    /// connection wait too.
    case wait
    /// Drop the oldest events, with a gap in their place.
    case dropOldest
    /// Drop the newest events, with a gap in their place.
    case dropNewest
    /// End the subscription with `slowConsumer`.
    case fail
  }

  /// What happens to what does not fit.
  public var overflow = Overflow.wait
  /// Events that wait at most. With `.wait` one more read of the socket may come on top.
  public var events = 1_024
  /// Bytes of events that wait at most.
  public var bytes = 4 << 20

  /// The defaults: wait, and lose nothing.
  public init(_ overflow: Overflow = .wait, events: Int = 1_024, bytes: Int = 4 << 20) {
    self.overflow = overflow
    self.events = events
    self.bytes = bytes
  }
}
