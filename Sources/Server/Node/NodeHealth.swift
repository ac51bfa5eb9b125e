internal import MartletRuntime

/// What is wrong with a node that still serves, for `/readyz`. From any thread.
package final class NodeHealth: Sendable {
  private let reason = Lock<String?>(nil)

  package init() {}

  /// What was wrong first; nil while nothing is.
  package var degradation: String? { reason.withLock { $0 } }

  /// Something is wrong from now on.
  package func degrade(_ what: String) {
    reason.withLock { reason in if reason == nil { reason = what } }
  }
}
