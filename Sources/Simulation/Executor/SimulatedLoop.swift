package import MartletRuntime
package import MartletVocabulary

/// A loop of a simulation: a lane of the seeded executor. Several share one executor and its clock.
///
/// `@unchecked Sendable` holds because its state is touched only inside the executor's pump.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class SimulatedLoop: Loop, @unchecked Sendable {
  package let name: String
  package let executor: SimulatedExecutor
  let lane: Int
  private var turnEnds: [any TurnEnd] = []

  init(name: String, lane: Int, executor: SimulatedExecutor) {
    self.name = name
    self.lane = lane
    self.executor = executor
  }

  package var now: Instant { executor.now }
  package var isCurrent: Bool { executor.isOnPump && executor.current === self }

  package func execute(_ work: @escaping @Sendable () -> Void) {
    executor.post(lane: lane, work)
  }

  @discardableResult
  package func schedule(at deadline: Instant, _ work: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(work: work)
    executor.schedule(at: deadline, lane: lane, timer)
    return timer
  }

  package func atEndOfTurn(_ work: any TurnEnd) {
    if !turnEnds.contains(where: { $0 === work }) { turnEnds.append(work) }
  }

  /// What registers during the turn's end is served in the same turn.
  func endTurn() {
    while !turnEnds.isEmpty {
      let due = turnEnds
      turnEnds.removeAll(keepingCapacity: true)
      for work in due { work.turnEnded() }
    }
  }
}
