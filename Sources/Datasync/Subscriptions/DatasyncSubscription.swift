internal import MartletJSONTree
internal import MartletRuntime

/// A running subscription. It ends by `cancel()`, with its manager, or when the server revokes it.
public final class DatasyncSubscription: Sendable {
  /// Where a subscription stands.
  public enum State: Sendable {
    /// Events are delivered.
    case running
    /// It has ended.
    case completed(DatasyncCompletion)
  }

  let core: TreeSubscriptionCore

  init(_ core: TreeSubscriptionCore) {
    self.core = core
  }

  // One that its manager does not keep ends with the last reference to it.
  deinit { core.endImplicitly() }

  /// What stays of the node's value when it has ended; its manager's at first. Of no effect once it has ended.
  ///
  /// A revocation by rules or credentials always forgets the value.
  public var completedSubscriptionPolicy: DatasyncCompletedSubscriptionPolicy {
    get { core.policy }
    set { core.policy = newValue }
  }

  /// Where it stands now.
  public var state: State { core.completion.map { .completed($0) } ?? .running }

  /// The path of its node.
  public var path: String { core.path.description }

  /// Returns when the server has confirmed it: every later change is delivered.
  /// - Throws: `denied` or `revoked` when it was revoked before; `CancellationError` when it, or the waiting task, was
  ///   cancelled.
  public func ready() async throws { try await core.ready() }

  /// Ends it, from any thread and any number of times. No event is delivered afterwards, not even one that waits for
  /// the callback's queue.
  public func cancel() { core.end(.cancellation) }
}

/// A callback with an identity, so that a node can end the subscription that it was given for.
///
/// ```swift
/// let callback = DatasyncCallback { event in print(event.value) }
/// node.subscribe(to: .valueChange, callback)
/// other.subscribe(to: .valueChange, callback)
/// node.unsubscribe(callback)           // the other continues
/// ```
public final class DatasyncCallback: Sendable {
  let onEvent: @MainActor (DatasyncEvent) -> Void
  let onCompletion: (@MainActor (DatasyncCompletion) -> Void)?

  /// Closures that run on the main actor.
  public init(
    onEvent: @escaping @MainActor (DatasyncEvent) -> Void,
    onCompletion: (@MainActor (DatasyncCompletion) -> Void)? = nil
  ) {
    self.onEvent = onEvent
    self.onCompletion = onCompletion
  }
}

/// The events of one subscription as a sequence, for one consumer. It ends when the consuming task is cancelled, by
/// `cancel()`, and with an error when it is revoked.
///
/// ```swift
/// for try await event in try node.events(.children, window: .last(50)) { … }
/// ```
public struct DatasyncEvents: AsyncSequence, Sendable {
  /// The subscription, with which the sequence can be ended.
  public let subscription: DatasyncSubscription

  /// Returns when the server has confirmed the subscription.
  /// - Throws: as the subscription's `ready()`.
  public func ready() async throws { try await subscription.ready() }

  /// Ends the sequence.
  public func cancel() { subscription.cancel() }

  /// An iterator, for the sequence's one consumer.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

  /// Takes the events, one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: DatasyncSubscription

    /// The next event; nil when the sequence was cancelled.
    /// - Throws: `denied` or `revoked` when the server has ended it.
    public mutating func next() async throws -> DatasyncEvent? {
      let core = subscription.core
      let step = await withTaskCancellationHandler {
        if Task.isCancelled { core.end(.cancellation) }
        return await core.next()
      } onCancel: {
        core.end(.cancellation)
      }
      switch step {
      case .event(let event): return event
      case .ended(.cancellation): return nil
      case .ended(let completion): throw TreeSubscriptionCore.error(completion)
      }
    }
  }
}
