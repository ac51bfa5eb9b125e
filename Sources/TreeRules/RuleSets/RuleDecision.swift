package import MartletJSONTree

/// The result of one rule.
package struct RuleResult: Hashable, Sendable {
  /// The rule, as `/users/$uid/.read`.
  package let rule: String
  package let source: String
  package let position: SourcePosition
  /// The node for which it was evaluated.
  package let path: TreePath
  package let isTrue: Bool
  /// Why the expression has no value; the rule is false then.
  package let failure: RuleFailure?
  /// The position of the part that failed.
  package let failurePosition: SourcePosition?
}

/// Whether an operation is allowed.
package enum RuleDecision: Hashable, Sendable {
  case allowed
  case denied(RuleDenial)

  package var isAllowed: Bool { self == .allowed }
}

/// Why an operation is denied.
package struct RuleDenial: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Reason: Hashable, Sendable {
    /// No `.read` or `.write` on the way to the node is true. Those that were evaluated, from the root down.
    case notGranted([RuleResult])
    /// This `.validate` is not true.
    case invalid(RuleResult)
  }

  package let kind: RuleKind
  /// The node that was to be read or written.
  package let path: TreePath
  package let reason: Reason

  /// The rule that decided: the failed validation, or the last rule that could have granted.
  package var rule: String? {
    switch reason {
    case .notGranted(let outcomes): outcomes.last?.rule
    case .invalid(let outcome): outcome.rule
    }
  }

  package var description: String {
    switch reason {
    case .notGranted(let outcomes) where outcomes.isEmpty: return "\(path): no .\(kind.rawValue) rule stands on the way"
    case .notGranted(let outcomes):
      let list = outcomes.map(Self.text).joined(separator: "; ")
      return "\(path): no .\(kind.rawValue) rule is true: \(list)"
    case .invalid(let outcome): return "\(outcome.path): " + Self.text(outcome)
    }
  }

  private static func text(_ outcome: RuleResult) -> String {
    guard let failure = outcome.failure else { return "\(outcome.rule) is false" }
    let place = outcome.failurePosition.map { " (\($0))" } ?? ""
    return "\(outcome.rule) failed\(place): \(failure)"
  }
}
