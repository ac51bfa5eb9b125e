import MartletGraphQLLanguage
import MartletJSON

// Which calls can be made while several parts are executed side by side.
extension Execution {
  /// A single call begins or ends: it may add parents to the batches of its part of the response.
  func countCalls(of work: FieldWork, _ change: Int) {
    guard !work.isBatch, let first = work.places.first?.first else { return }
    if first.container === root {
      runningSingles += change
      return
    }
    guard let part = delivery?.part(of: work.places[0]) else { return }
    part.calls += change
    guard part.calls == 0 else { return }
    let held = part.held
    part.held = []
    for parent in held {
      tree.queue.addToBatch(parent.field, parent.source, parent.arguments, tree.context, at: parent.place)
    }
  }

  /// Takes the batches, as far as their parents are in parts without a call under way: a slow part holds back its own
  /// parents only. Each parent is held at most once for every round of calls in its part.
  func takeReadyBatches(_ result: inout [FieldWork]) {
    for work in tree.queue.takeBatches() {
      var ready: [Int] = []
      for (index, place) in work.places.enumerated() {
        let part = delivery?.part(of: place)
        guard isAttached(place) else {
          if let part { settle(part) }
          continue
        }
        if let part, part.calls > 0 {
          part.held.append(
            DetachedPart.HeldParent(
              field: work.field, source: work.sources[index], arguments: work.arguments, place: place))
        } else if part == nil, runningSingles > 0 {
          tree.queue.addToBatch(work.field, work.sources[index], work.arguments, tree.context, at: place)
        } else {
          ready.append(index)
        }
      }
      guard !ready.isEmpty else { continue }
      work.keep(ready)
      result.append(work)
    }
  }
}
