/// What the stories of a run have met, and what none of them has.
package struct Coverage: Sendable {
  private var counts: [String: Int] = [:]

  package init() {}

  /// What a run is expected to meet: every fault, crash point, and branch of the engine and of the server's half.
  package static var expected: [String] {
    var names = Fault.Kind.allCases.map { "fault \($0.rawValue)" }
    for node in ["client crash", "server crash"] {
      for point in ["write of the log", "sync of the log", "write of the file", "sync of the file"] {
        names += ["\(node) at \(point)", "\(node) at \(point), power lost"]
      }
    }
    return names + branches
  }

  private static let branches = [
    "request lost", "answer lost",
    "request doubled", "partitioned message", "half-open message", "token refused", "stale token",
    "overloaded", "ready", "full sync", "delta sync", "gap retention", "gap lineage", "gap view-changed", "conflict",
    "changes undone by a copy", "changes held",
    "conflict retried", "conflict retried with another record", "letter retried", "letter discarded",
    "conditional save failed", "attempt failed", "terminated", "sync stopped", "refused VERSION_MISMATCH",
    "refused ALREADY_EXISTS", "refused NOT_FOUND", "refused FORBIDDEN", "refused CONDITION_FAILED",
    "refused OUTCOME_FORGOTTEN", "write failed: conflict", "write failed: condition", "write failed: unauthorized",
    "write failed: depends on another",

  ]

  package mutating func add(_ counts: [String: Int]) {
    for (name, count) in counts { self.counts[name, default: 0] += count }
  }

  /// The expected names that nothing has hit.
  package var missed: [String] { Self.expected.filter { counts[$0] == nil } }

  /// One line for each name, in order.
  package var lines: [String] {
    counts.sorted { $0.key < $1.key }.map { name, count in
      String(repeating: " ", count: max(0, 9 - "\(count)".count)) + "\(count)  \(name)"
    } + missed.map { "    never  \($0)" }
  }

  /// As text that another process reads.
  package var text: String {
    let hit = counts.sorted { $0.key < $1.key }.map { "\($0.value)\t\($0.key)\n" }
    return (hit + missed.map { "0\t\($0)\n" }).joined()
  }
}
