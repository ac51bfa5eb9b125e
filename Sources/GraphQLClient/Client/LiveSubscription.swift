public import Observation

/// The latest value of a subscription, with its state and gap, for a view to show. It is observable, and belongs to the
/// main actor.
///
///     struct Board: View {
///       @State private var live = LiveSubscription<Departures>()
///       let client: GraphQLClient
///
///       var body: some View {
///         Text(live.value?.departures.line ?? "…")
///           .task { await live.follow(client.subscribe(document, as: Departures.self)) }
///       }
///     }
///
/// On platforms with SwiftUI `@LiveValue` is the same as one property.
@Observable @MainActor public final class LiveSubscription<Value: Decodable & Sendable> {
  /// The newest data; kept when the subscription ends.
  public private(set) var value: Value?
  /// The stream's state.
  public private(set) var state = SubscriptionState.pending
  /// The errors of the newest result.
  public private(set) var errors: [GraphQLServerError] = []
  /// What ended the subscription, when it failed.
  public private(set) var failure: (any Error)?
  /// Set when events are missing. Read the data again, then set it to nil.
  public var gap: EventGap?

  /// Without a value yet.
  public init() {}

  /// Follows a stream until it ends, or until the task that calls it is cancelled, which ends the subscription: a
  /// view's `.task` does so when the view disappears. Suspends for that time.
  public func follow(_ stream: SubscriptionStream<GraphQLResponse<Value>>) async {
    (failure, gap, state) = (nil, nil, stream.state)
    async let watching: Void = watch(stream.states)
    do {
      for try await response in stream {
        if let missing = response.gap {
          gap = missing
          continue
        }
        errors = response.errors
        if let data = response.data { value = data }
      }
    } catch is CancellationError {
      // The view has left.
    } catch {
      failure = error
    }
    await watching
    state = stream.state
  }

  private func watch(_ states: AsyncStream<SubscriptionState>) async {
    for await state in states {
      self.state = state
      if state.isFinished { return }
    }
  }
}
