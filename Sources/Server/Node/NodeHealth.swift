internal import MartletRuntime

/// What is wrong with a node that still serves, for `/readyz`. From any thread.
package final class NodeHealth: Sendable {
  private let damaged = Lock<Int64?>(nil)

  package init() {}

  /// What is wrong; nil while nothing is. `firstRetained` is the log's oldest offset that has not expired: damage
  /// before it no longer concerns a reader.
  package func degradation(firstRetained: Int64) -> String? {
    damaged.withLock { damaged in
      guard let offset = damaged, offset >= firstRetained else { return nil }
      return "the change log is damaged at offset \(offset)"
    }
  }

  /// The log turned out to be damaged at `offset`.
  package func logIsDamaged(at offset: Int64) {
    damaged.withLock { $0 = max($0 ?? offset, offset) }
  }
}
