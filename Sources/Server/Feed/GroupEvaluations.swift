internal import MartletChangeFeed
internal import MartletRuntime

/// The changes whose payloads for a group take reads or user code. They are evaluated one after the other, so that a
/// group's events stay in order. Confined to its feed's loop.
final class GroupEvaluations {
  /// The changes of one group that wait, in order; the first is under way.
  private struct Queue {
    let group: any FeedGroup
    let key: GroupKey
    var changes: [Change]
  }

  private let loop: any Loop
  private let counters: LoopTally
  private let shared: SharedEvaluations
  private var queues: [GroupID: Queue] = [:]
  /// Called on the loop with each payload of a group that has not been removed meanwhile.
  var onPayload: (Change, [UInt8], any FeedGroup, GroupID) -> Void = { _, _, _, _ in }

  init(_ shared: SharedEvaluations, on loop: any Loop, _ counters: LoopTally) {
    self.shared = shared
    self.loop = loop
    self.counters = counters
  }

  /// Whether changes of a group wait, which later changes must not pass.
  func isEvaluating(_ id: GroupID) -> Bool { !queues.isEmpty && queues[id] != nil }

  /// The offset of a group's first change whose payload is still being made.
  func firstOffset(for id: GroupID) -> Int64? { queues.isEmpty ? nil : queues[id]?.changes.first?.offset }

  /// Queues a change of a group.
  func append(_ change: Change, for group: any FeedGroup, _ id: GroupID, _ key: GroupKey) {
    if queues[id] != nil {
      queues[id]?.changes.append(change)
    } else {
      queues[id] = Queue(group: group, key: key, changes: [change])
      evaluateNext(group, id)
    }
  }

  /// Forgets what waits for a group that has lost its last member.
  func remove(_ id: GroupID) { queues[id] = nil }

  /// Evaluates a group's queued changes one after the other.
  private func evaluateNext(_ group: any FeedGroup, _ id: GroupID) {
    while let queue = queues[id], queue.group === group, let change = queue.changes.first {
      var isReturning = false
      var payload: [UInt8]?
      evaluate(change, group, queue.key) { [weak self, weak group] made in
        guard isReturning else {
          payload = made
          return
        }
        guard let self, let group, self.evaluated(change, made, group, id) else { return }
        self.evaluateNext(group, id)
      }
      isReturning = true
      guard let payload, evaluated(change, payload, group, id) else { return }
    }
  }

  /// Hands out an evaluated payload; false when the group is gone.
  private func evaluated(_ change: Change, _ payload: [UInt8], _ group: any FeedGroup, _ id: GroupID) -> Bool {
    guard let queue = queues[id], queue.group === group else { return false }
    if queue.changes.count == 1 { queues[id] = nil } else { queues[id]?.changes.removeFirst() }
    onPayload(change, payload, group, id)
    return true
  }

  /// Makes a group's payload with reads or user code, or takes it from a feed of another loop that has made it.
  /// `completion` runs on the loop, perhaps before this returns.
  func evaluate(
    _ change: Change, _ group: any FeedGroup, _ key: GroupKey, _ completion: @escaping ([UInt8]) -> Void
  ) {
    let key = SharedEvaluations.Key(group: key, offset: change.offset)
    let waiting = LoopBound(Completion(completion), on: loop)
    let answer = shared.begin(key) { payload in
      waiting.loop.execute { waiting.value.run(payload) }
    }
    switch answer {
    case .payload(let payload): completion(payload)
    case .wait: break
    case .evaluate:
      counters.add(.payloadEncodings)
      group.evaluate(change) { [shared] payload in
        shared.finish(key, payload)
        completion(payload)
      }
    }
  }

  /// Carries a closure to its loop.
  private final class Completion {
    let run: ([UInt8]) -> Void
    init(_ run: @escaping ([UInt8]) -> Void) { self.run = run }
  }
}
