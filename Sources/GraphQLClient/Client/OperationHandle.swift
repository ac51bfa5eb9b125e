package import Foundation
internal import MartletRuntime

/// A running operation that answers a closure. Cancelling is possible from any thread and more than once.
///
/// Dropping the last reference cancels a subscription or a watch; a query or a mutation runs without it. The closure is
/// let go when the operation ends.
public final class OperationHandle: Cancellable, Sendable {
  private let task: SpawnedTask
  private let isOver: @Sendable () -> Void
  private let leaving: @Sendable () -> Void
  private let outlivesHandle: Bool

  package init<Data: Sendable>(
    _ delivery: CallbackDelivery<Data>, outlivesHandle: Bool, leaving: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable () async throws -> Void
  ) {
    self.leaving = leaving
    self.outlivesHandle = outlivesHandle
    isOver = { delivery.end() }
    task = ConcurrentSpawner().spawn {
      do {
        try await work()
      } catch {
        if !(error is CancellationError) { await delivery.tell(.failure(error)) }
      }
      delivery.end()
    }
  }

  deinit {
    if !outlivesHandle { cancel() }
  }

  /// Ends the operation; the handler is not called again. A mutation that was sent may have been executed all the same.
  public func cancel() {
    isOver()
    leaving()
    task.cancel()
  }
}

/// Brings results to a closure where it wants to run, and lets go of it at the end.
package final class CallbackDelivery<Data: Sendable>: Sendable {
  package typealias Outcome = Result<GraphQLResponse<Data>, any Error>

  private enum Target {
    case mainActor(GraphQLClient.ResultHandler<Data>)
    case queue(DispatchQueue, GraphQLClient.QueueHandler<Data>)
  }
  /// Nil once nothing more is to be delivered.
  private let target: Lock<Target?>

  package init(_ handler: @escaping GraphQLClient.ResultHandler<Data>) {
    target = Lock(.mainActor(handler))
  }

  package init(_ queue: DispatchQueue, _ handler: @escaping GraphQLClient.QueueHandler<Data>) {
    target = Lock(.queue(queue, handler))
  }

  private var now: Target? { target.withLock { $0 } }

  func end() {
    // Let go outside the lock: what the closure holds may do anything when it goes.
    let gone = target.withLock { target in
      defer { target = nil }
      return target
    }
    withExtendedLifetime(gone) {}
  }

  /// Returns when the closure has run.
  package func tell(_ outcome: Outcome) async {
    switch now {
    case .mainActor?: await tellMainActor(outcome)
    case .queue(let queue, _)?:
      await withCheckedContinuation { continuation in
        queue.async { [self] in
          // Cancelled while this waited in the queue: nothing more is delivered.
          if case .queue(_, let handler)? = now { handler(outcome) }
          continuation.resume()
        }
      }
    case nil: break
    }
  }

  @MainActor private func tellMainActor(_ outcome: Outcome) {
    if case .mainActor(let handler)? = now { handler(outcome) }
  }
}
