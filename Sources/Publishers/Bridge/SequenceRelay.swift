internal import MartletGraphQLClient
internal import MartletRuntime

#if canImport(Combine)
  internal import Combine
#endif

/// Takes the elements of one sequence and hands each to all subscribers of that moment.
///
/// It begins at the first attachment, so that what the sequence holds by then is not lost; a subscriber that attaches
/// later gets what comes later. It continues only when every attached subscriber has room. The first cancellation ends
/// it for all.
///
/// `@unchecked Sendable` holds because its variables are touched only inside `guarded`.
final class SequenceRelay<Source: AsyncSequence & Sendable>: @unchecked Sendable where Source.Element: Sendable {
  typealias Output = Source.Element
  typealias Completion = Subscribers.Completion<any Error>

  private let source: Source
  /// Whether the sequence itself was cancelled, for sequences that can report it.
  private let isCancelled: @Sendable () -> Bool
  private let spawner: any Spawner

  private let guarded = Guard()
  private var outlets: [Outlet<Output, any Error>] = []
  private var hasStarted = false
  private var end: Completion?
  private var task: SpawnedTask?
  private var waiter: CheckedContinuation<Void, Never>?

  init(_ source: Source, on spawner: any Spawner, isCancelled: @escaping @Sendable () -> Bool) {
    self.source = source
    self.spawner = spawner
    self.isCancelled = isCancelled
  }

  func attach(_ subscriber: any Subscriber<Output, any Error>) {
    let outlet = Outlet<Output, any Error>(
      subscriber, isCancelledAbove: isCancelled, onTaken: { [weak self] in self?.resumeIfRoom() },
      onCancel: { _ in self.stop() })
    // Attached before it is notified, and notified of nothing before it has its subscription: nothing is lost between.
    let (starts, end) = guarded {
      if self.end == nil { outlets.append(outlet) }
      defer { hasStarted = true }
      return (!hasStarted && self.end == nil, self.end)
    }
    subscriber.receive(subscription: outlet)
    outlet.open()
    if let end { outlet.finish(end) }
    if starts { start() }
  }

  private func start() {
    let task = spawner.spawn { await self.pump() }
    let isOver = guarded {
      if end == nil { self.task = task }
      return end != nil
    }
    if isOver { task.cancel() }
  }

  private func pump() async {
    var hasLeft = false
    do {
      for try await element in source {
        if hasLeft { break }
        for outlet in guarded({ outlets }) {
          if isCancelled() { break }
          outlet.send(element)
        }
        if isCancelled() { break }
        if guarded({ end != nil }) {
          // The cancel came between two elements. A sequence may have no other way to notice it than to be asked for
          // the next one by a cancelled task: it is asked once more.
          hasLeft = true
          // Unsafe only if the task were kept; it is this one.
          unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
        } else {
          await room()
        }
      }
      finish(.finished)
    } catch {
      finish(isCancelled() ? .finished : .failure(error))
    }
  }

  private func finish(_ completion: Completion) {
    let outlets = guarded {
      if end == nil { end = completion }
      task = nil
      defer { self.outlets = [] }
      return self.outlets
    }
    let discards = isCancelled()
    for outlet in outlets { outlet.finish(completion, discarding: discards) }
  }

  /// A subscriber cancelled: the sequence is disconnected, and every other subscriber gets the completion.
  private func stop() {
    let (outlets, task, waiter) = guarded {
      if end == nil { end = .finished }
      defer { (self.outlets, self.task, self.waiter) = ([], nil, nil) }
      return (self.outlets, self.task, self.waiter)
    }
    (source as? any Cancellable)?.cancel()
    task?.cancel()
    waiter?.resume()
    for outlet in outlets { outlet.finish(.finished, discarding: true) }
  }

  // MARK: Room

  /// Returns when no attached subscriber lags too far.
  private func room() async {
    if guarded({ hasRoom }) { return }
    await withCheckedContinuation { continuation in
      let goesOn = guarded {
        if end != nil || hasRoom { return true }
        waiter = continuation
        return false
      }
      if goesOn { continuation.resume() }
    }
  }

  private var hasRoom: Bool { outlets.allSatisfy(\.hasRoom) }

  private func resumeIfRoom() {
    let waiter = guarded { () -> CheckedContinuation<Void, Never>? in
      guard self.waiter != nil, hasRoom else { return nil }
      defer { self.waiter = nil }
      return self.waiter
    }
    waiter?.resume()
  }
}

/// A relay as a publisher.
struct SequencePublisher<Source: AsyncSequence & Sendable>: Publisher where Source.Element: Sendable {
  typealias Output = Source.Element
  typealias Failure = any Error

  let relay: SequenceRelay<Source>

  func receive<Downstream: Subscriber>(subscriber: Downstream)
  where Downstream.Input == Output, Downstream.Failure == Failure {
    relay.attach(subscriber)
  }
}
