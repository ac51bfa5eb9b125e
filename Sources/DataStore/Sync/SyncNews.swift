internal import MartletRuntime

/// The consumers of a store's events and status. Usable from any thread.
final class SyncNews: Sendable {
  private struct State {
    var last = DataStoreSyncStatus()
    var events: [Int: AsyncStream<DataStoreEvent>.Continuation] = [:]
    var statuses: [Int: AsyncStream<DataStoreSyncStatus>.Continuation] = [:]
    var next = 0
    var isOver = false
  }

  /// Events that wait for a slow consumer, some megabytes; older ones are dropped first.
  private static let waitingEvents = 10_000
  private let state = Lock(State())

  var status: DataStoreSyncStatus { state.withLock { $0.last } }

  /// Puts a status in force, with the events that led to it. A consumer of events finds the status in force when it
  /// gets them; one that looks for events after it has seen the status gets only later ones.
  func publish(_ status: DataStoreSyncStatus, _ events: [DataStoreEvent] = []) {
    typealias Consumers = (
      [AsyncStream<DataStoreEvent>.Continuation], [AsyncStream<DataStoreSyncStatus>.Continuation]
    )
    let (listeners, watchers) = state.withLock { state -> Consumers in
      let listeners = state.events.sorted { $0.key < $1.key }.map(\.value)
      guard state.last != status else { return (listeners, []) }
      state.last = status
      return (listeners, state.statuses.sorted { $0.key < $1.key }.map(\.value))
    }
    for event in events { for consumer in listeners { consumer.yield(event) } }
    for consumer in watchers { consumer.yield(status) }
  }

  /// The store is closed: streams end.
  func finish() {
    let (events, statuses) = state.withLock { state in
      state.isOver = true
      return (state.events.values.map(\.self), state.statuses.values.map(\.self))
    }
    for consumer in events { consumer.finish() }
    for consumer in statuses { consumer.finish() }
  }

  func events() -> AsyncStream<DataStoreEvent> {
    AsyncStream(bufferingPolicy: .bufferingNewest(Self.waitingEvents)) { continuation in
      let number = state.withLock { state -> Int? in
        if state.isOver { return nil }
        state.next += 1
        state.events[state.next] = continuation
        return state.next
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.events.removeValue(forKey: number) }
      }
    }
  }

  func statuses() -> AsyncStream<DataStoreSyncStatus> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = state.withLock { state -> Int? in
        continuation.yield(state.last)
        if state.isOver { return nil }
        state.next += 1
        state.statuses[state.next] = continuation
        return state.next
      }
      guard let number else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.statuses.removeValue(forKey: number) }
      }
    }
  }
}
