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

  /// Hands out one group: to each destination the batch, if it is registered, and the completions of its own writes.
  /// `results` are those of the group's writes, in their order.
  func handOut(
    _ batch: ChangeBatch?, _ folded: StoreFile.Folded, _ group: [SubmittedWrite],
    _ results: [Result<Receipt, StoreError>], _ clock: StoreClock
  ) {
    let registered = state.withLock { state in
      state.position = LogPosition(folded)
      state.lineage = folded.lineage
      return state.destinations
    }
    let committed = clock.now()
    var left = group.count
    for (index, destination) in registered.enumerated() {
      let isRepeated = registered[..<index].contains { $0 === destination }
      let completions = isRepeated || left == 0 ? [] : Self.completions(for: destination, group, results)
      left -= completions.count
      if batch == nil && completions.isEmpty { continue }
      destination.deliver(StoreDelivery(batch: batch, completions: completions, committed: committed))
    }
    // What is left are writes of destinations that follow no log.
    var served = registered
    for write in group where left > 0 && !served.contains(where: { $0 === write.destination }) {
      served.append(write.destination)
      let completions = Self.completions(for: write.destination, group, results)
      left -= completions.count
      write.destination.deliver(StoreDelivery(batch: nil, completions: completions, committed: committed))
    }
  }

  private static func completions(
    for destination: any StoreDestination, _ group: [SubmittedWrite], _ results: [Result<Receipt, StoreError>]
  ) -> [@Sendable () -> Void] {
    var completions: [@Sendable () -> Void] = []
    for (write, result) in zip(group, results) where write.destination === destination {
      completions.append { write.completion(result) }
    }
    return completions
  }
}
