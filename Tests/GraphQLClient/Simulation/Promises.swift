import MartletChangeFeed
import MartletGraphQLClient
import MartletVocabulary

/// Checks the promises P1 to P5 of a scenario that has settled against a naive filter of the log.
enum Promises {
  /// What does not hold, in words; empty when all do.
  static func broken(by scenario: Scenario, allowsGaps: Bool = false) -> [String] {
    var faults: [String] = []
    let log = scenario.server.log
    if zip(log, log.dropFirst()).contains(where: { $0.offset >= $1.offset }) {
      faults.append("the log's offsets do not increase")
    }
    for id in scenario.acknowledged where log.filter({ $0.id == id && $0.kind == .create }).count != 1 {
      faults.append("acknowledged \(id) is not once in the log")
    }
    for follower in scenario.followers {
      func fault(_ text: String) { faults.append("\(follower.name): \(text)") }
      if let ended = follower.ended { fault("ended: \(ended)") }
      guard let ready = follower.readyAt else {
        fault("never ready")
        continue
      }
      let offsets = follower.offsets
      // P1 and P3: strictly increasing, hence each once.
      if zip(offsets, offsets.dropFirst()).contains(where: { $0 >= $1 }) { fault("not increasing: \(offsets)") }
      // P2 and P5: what matched, from at latest the commit after `ready` on, less what the gaps own up to.
      let gaps = follower.gaps
      if !allowsGaps, !gaps.isEmpty { fault("gaps: \(gaps)") }
      func isInGap(_ offset: Int64) -> Bool {
        gaps.contains { offset > ($0.from?.offset ?? 0) && offset <= ($0.to?.offset ?? 0) }
      }
      let start = min(offsets.first.map { $0 - 1 } ?? ready, ready)
      let wanted = log.filter { follower.interest.matches($0) && $0.offset > start && !isInGap($0.offset) }
      let extra = offsets.filter(isInGap)
      // An event inside a gap would make the gap a lie only if the gap came first; see P4.
      let delivered = offsets.filter { !isInGap($0) }
      if delivered != wanted.map(\.offset) { fault("delivered \(delivered), the log says \(wanted.map(\.offset))") }
      let ids = Dictionary(log.map { ($0.offset, $0.id) }) { first, _ in first }
      for case .event(let offset, let id) in follower.seen where ids[offset] != id { fault("\(offset) is not \(id)") }
      // P4: each gap names both ends, and stands where what it stands for is missing.
      if !extra.isEmpty { fault("delivered inside a gap: \(extra)") }
      var last: Int64 = 0
      for seen in follower.seen {
        switch seen {
        case .event(let offset, id: _): last = offset
        case .gap(let gap):
          guard let from = gap.from, let to = gap.to else {
            fault("a gap without ends: \(gap)")
            continue
          }
          if from.offset < last || to.offset < from.offset { fault("a gap out of place: \(gap) after \(last)") }
          last = to.offset
        }
      }
    }
    return faults
  }
}
