internal import MartletChangeFeed
internal import MartletRuntime

extension Feed {
  /// Queues a change whose selection needs reads or user code; a group's events stay in order.
  func evaluateLater(_ change: Change, _ group: any FeedGroup, _ id: GroupID) {
    evaluating[id, default: []].append(change)
    if evaluating[id]?.count == 1 { evaluateNext(group, id) }
  }

  /// Evaluates a group's queued changes one after the other.
  private func evaluateNext(_ group: any FeedGroup, _ id: GroupID) {
    while let change = evaluating[id]?.first {
      var isReturning = false
      var payload: [UInt8]?
      evaluate(change, group, id) { [weak self, weak group] made in
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

  /// Delivers an evaluated event; false when the group is gone.
  private func evaluated(_ change: Change, _ payload: [UInt8], _ group: any FeedGroup, _ id: GroupID) -> Bool {
    guard groups[id] === group else { return false }
    evaluating[id]?.removeFirst()
    if evaluating[id]?.isEmpty == true { evaluating[id] = nil }
    deliveries.append(
      event(change, payload, for: group), to: id, count: index.members(of: id).count, before: change.offset - 1)
    deliver()
    return true
  }

  /// Makes a group's payload with reads or user code, or takes it from a feed of another loop that has made it.
  /// `completion` runs on the loop, perhaps before this returns.
  func evaluate(
    _ change: Change, _ group: any FeedGroup, _ id: GroupID, _ completion: @escaping ([UInt8]) -> Void
  ) {
    guard let groupKey = index.key(of: id) else { return completion([]) }
    let key = SharedEvaluations.Key(group: groupKey, offset: change.offset)
    let waiting = LoopBound(Completion(completion), on: loop)
    let answer = evaluations.begin(key) { payload in
      waiting.loop.execute { waiting.value.run(payload) }
    }
    switch answer {
    case .payload(let payload): completion(payload)
    case .wait: break
    case .evaluate:
      counters.add(.payloadEncodings)
      group.evaluate(change) { [evaluations] payload in
        evaluations.finish(key, payload)
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
