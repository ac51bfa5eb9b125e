internal import MartletTreeRules

/// The decision about one read or write.
public struct TreeRulesVerdict: Hashable, Sendable {
  /// Whether the operation is allowed.
  public let isAllowed: Bool
  /// The rule that denied, as `/users/$uid/.validate`; the last `.read` or `.write` that could have granted; nil when
  /// the operation is allowed or no rule stands on the way.
  public let rule: String?
  /// Path, rules and failures of a denial, in one sentence.
  public let reason: String?
  /// The parts of the evaluated rules with their values, as `auth.uid = "ada"`, in the order of evaluation.
  public let values: [String]

  init(_ decision: RuleDecision, _ trace: RuleTrace) {
    values = trace.values.map { "\($0.source) = \($0.value ?? "")" }
    switch decision {
    case .allowed: (isAllowed, rule, reason) = (true, nil, nil)
    case .denied(let denial): (isAllowed, rule, reason) = (false, denial.rule, denial.description)
    }
  }
}

/// What became of a single expression.
public enum TreeExpressionResult: Hashable, Sendable {
  /// It does not parse, or its types are wrong.
  case invalid(TreeRulesProblem)
  /// It has no value for these data, with the position of the part that failed; a rule is false then.
  case failure(String)
  /// Its value.
  case value(Bool)
}

/// One thing that is wrong with a rules file or an expression.
public struct TreeRulesProblem: Hashable, Sendable, CustomStringConvertible {
  /// `syntax`, `structure`, `unknownName`, `type`, `pattern` or `limit`.
  public let code: String
  /// From 1.
  public let line: Int
  /// From 1, in Unicode scalars.
  public let column: Int
  /// The rule or the node, as `/users/$uid/.read`; empty for a single expression.
  public let path: String
  /// What is wrong.
  public let message: String
  /// Position, path and message.
  public let description: String

  init(_ problem: RulesProblem) {
    code = problem.code.rawValue
    (line, column) = (problem.position.line, problem.position.column)
    path = problem.path
    message = problem.message
    description = problem.description
  }
}

/// Everything that is wrong with a rules file.
public struct TreeRulesError: Error, Hashable, Sendable, CustomStringConvertible {
  /// In the order of the file.
  public let problems: [TreeRulesProblem]

  /// One line for each problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }

  init(_ problems: [RulesProblem]) {
    self.problems = problems.map { TreeRulesProblem($0) }
  }
}
