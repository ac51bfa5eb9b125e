internal import Dispatch
internal import MartletRuntime

/// Brings a subscription's events to closures where they want to run, and the completion last.
struct TreeCallbackDelivery: Sendable {
  enum Target: Sendable {
    case mainActor(@MainActor (DatasyncEvent) -> Void, (@MainActor (DatasyncCompletion) -> Void)?)
    case queue(
      DispatchQueue, @Sendable (DatasyncEvent) -> Void, (@Sendable (DatasyncCompletion) -> Void)?)
  }

  let target: Target
  let excludesRevocations: Bool

  /// Delivers until the subscription has ended.
  func run(_ core: TreeSubscriptionCore) async {
    while true {
      switch await core.next() {
      case .event(let event): await tell(event, core)
      case .ended(let completion):
        if case .revocation = completion, excludesRevocations { return }
        return await tell(completion)
      }
    }
  }

  private func tell(_ event: DatasyncEvent, _ core: TreeSubscriptionCore) async {
    switch target {
    case .mainActor(let onEvent, _): await Self.onMain(core, event, onEvent)
    case .queue(let queue, let onEvent, _):
      await withCheckedContinuation { continuation in
        queue.async {
          // Cancelled while this waited in the queue: nothing more is delivered. A revocation is reported after it.
          if !core.isCancelled { onEvent(event) }
          continuation.resume()
        }
      }
    }
  }

  @MainActor private static func onMain(
    _ core: TreeSubscriptionCore, _ event: DatasyncEvent, _ onEvent: @MainActor (DatasyncEvent) -> Void
  ) {
    if !core.isCancelled { onEvent(event) }
  }

  private func tell(_ completion: DatasyncCompletion) async {
    switch target {
    case .mainActor(_, let onCompletion?): await onCompletion(completion)
    case .queue(let queue, _, let onCompletion?):
      await withCheckedContinuation { continuation in
        queue.async {
          onCompletion(completion)
          continuation.resume()
        }
      }
    case .mainActor(_, nil), .queue(_, _, nil): return
    }
  }
}
