internal import MartletChangeFeed
internal import MartletRuntime

/// The destinations that follow a store's log, and how far the log has been delivered to them. From any thread.
final class Deliveries: Sendable {
  private struct State {
    var destinations: [any StoreDestination] = []
    var position: LogPosition
    var lineage: Lineage
  }

  private let state: Lock<State>
  private let reached: Lock<Int64>

  init(_ file: StoreFile) {
    state = Lock(State(position: LogPosition(file.folded), lineage: file.folded.lineage))
    reached = file.reached
  }

  /// The newest offset that a commit has claimed, whether or not its group has been delivered.
  var reachedOffset: Int64 { reached.withLock { $0 } }

  /// Where the log stands, as of the last delivered group.
  var position: LogPosition { state.withLock { $0.position } }

  /// The terms of the log, as of the last delivered group.
  var lineage: Lineage { state.withLock { $0.lineage } }

  /// Registers a destination for the batches of all later groups, and returns the position they follow.
  func register(_ destination: any StoreDestination) -> LogPosition {
    state.withLock { state in
      state.destinations.append(destination)
      return state.position
    }
  }

  /// Ends a registration. A batch that is on its way may still arrive.
  func unregister(_ destination: any StoreDestination) {
    state.withLock { state in state.destinations.removeAll { $0 === destination } }
  }

  /// Hands out one group: to each destination the batch, if it is registered, and its own completions.
  func handOut(
    _ batch: ChangeBatch?, _ folded: StoreFile.Folded,
    _ writes: [(destination: any StoreDestination, completion: @Sendable () -> Void)], _ clock: StoreClock
  ) {
    var destinations = state.withLock { state in
      state.position = LogPosition(folded)
      state.lineage = folded.lineage
      return state.destinations
    }
    let registered = destinations.count
    var completions: [[@Sendable () -> Void]] = destinations.map { _ in [] }
    var last = 0
    for write in writes {
      // Writes of a group come from a few destinations, a loop's one after the other.
      if !destinations.indices.contains(last) || destinations[last] !== write.destination {
        last = destinations.firstIndex { $0 === write.destination } ?? destinations.count
      }
      if last == destinations.count {
        destinations.append(write.destination)
        completions.append([])
      }
      completions[last].append(write.completion)
    }
    let committed = clock.now()
    for (index, destination) in destinations.enumerated() {
      let batch = index < registered ? batch : nil
      if batch == nil && completions[index].isEmpty { continue }
      destination.deliver(StoreDelivery(batch: batch, completions: completions[index], committed: committed))
    }
  }
}
