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

  func send(_ event: DataStoreEvent) {
    let consumers = state.withLock { state in state.events.sorted { $0.key < $1.key }.map(\.value) }
    for consumer in consumers { consumer.yield(event) }
  }

  func publish(_ status: DataStoreSyncStatus) {
    let consumers = state.withLock { state -> [AsyncStream<DataStoreSyncStatus>.Continuation] in
      guard state.last != status else { return [] }
      state.last = status
      return state.statuses.sorted { $0.key < $1.key }.map(\.value)
    }
    for consumer in consumers { consumer.yield(status) }
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
