/// A running subscription: its events as a sequence, with an observable state.
///
/// Work starts when it is made, not when it is iterated. It ends when the server completes it, when the consuming task
/// is cancelled, by `cancel()`, or when the last reference to it is gone; in the latter cases the server is notified.
///
///     let stream = client.subscribe("subscription { tick }")
///     try await stream.ready()
///     for try await result in stream { … }
///
/// It has one consumer: the first iterator that asks for an event has them all as long as it lives, and another one is
/// refused with `streamInUse`. Use a publisher to get every event in two places. A connection that is lost does not
/// end it: the state is `reconnecting`, events continue where they stopped, and a gap that could not be filled is one
/// element that says so.
public final class SubscriptionStream<Element: Sendable>: AsyncSequence, Sendable {
  package let core: SubscriptionCore
  private let decode: @Sendable (SubscriptionEvent) throws -> Element?

  /// - Parameter decode: makes an element of an event; nil for one that has nothing for the consumer.
  package init(core: SubscriptionCore, decode: @escaping @Sendable (SubscriptionEvent) throws -> Element?) {
    self.core = core
    self.decode = decode
  }

  /// The same subscription with other elements, changes of its state among them. Takes the place of `source`, of which
  /// nothing has been consumed yet, and keeps it.
  package convenience init<Source: Sendable>(
    tellingLifeOf source: SubscriptionStream<Source>,
    decode: @escaping @Sendable (SubscriptionEvent) throws -> Element?
  ) {
    source.core.tellLife()
    self.init(core: source.core) { event in
      try withExtendedLifetime(source) { try decode(event) }
    }
  }

  deinit {
    core.leave()
  }

  /// Where it stands now.
  public var state: SubscriptionState { core.state }

  /// Whether the server itself said that the subscription is live. Plain servers cannot; then `active` means sent.
  public var isConfirmed: Bool { core.isConfirmed }

  /// The state now and each change after it, as they happen, the end last.
  public var states: AsyncStream<SubscriptionState> { core.states() }

  /// Returns when the subscription is active; at once when it is.
  /// - Throws: the error it failed with; `connectionClosed` when the server completed it before; `CancellationError`
  ///   when it, or the task that waits, was cancelled.
  public func ready() async throws {
    try await core.waitUntilActive()
  }

  /// Ends the subscription: iteration returns nil, nothing more is delivered, the server is notified.
  public func cancel() {
    core.leave()
  }

  /// An iterator, for the stream's one consumer.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self, consumer: SubscriptionConsumer(core)) }

  /// Takes the events, one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: SubscriptionStream<Element>
    let consumer: SubscriptionConsumer

    /// The next event; nil when the subscription has completed or was cancelled.
    /// - Throws: what it failed with; the state then names the same error. `streamInUse` when the events are another
    ///   iterator's, which changes nothing for that one.
    public mutating func next() async throws -> Element? {
      guard stream.core.belongs(to: consumer) else { throw SubscriptionConsumer.second }
      if Task.isCancelled { stream.core.leave() }
      while let event = try await stream.core.next() {
        do {
          if let element = try stream.decode(event) { return element }
        } catch {
          stream.core.leave(.error(error))
          throw error
        }
      }
      return nil
    }
  }
}

/// Identifies one iterator over a subscription, so that a second one is recognised.
package final class SubscriptionConsumer: Sendable {
  private let core: SubscriptionCore

  init(_ core: SubscriptionCore) { self.core = core }

  deinit {
    core.ended(ObjectIdentifier(self))
  }

  static let second = GraphQLClientError(.streamInUse, "the subscription's events are another iterator's")
}

/// Another name of `SubscriptionStream`; both are the same type.
public typealias MartletAsyncThrowingSequence<Element: Sendable> = SubscriptionStream<Element>
