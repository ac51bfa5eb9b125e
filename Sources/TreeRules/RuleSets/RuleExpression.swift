package import MartletJSONTree

/// One expression by itself, as `martlet rules` and tests evaluate them.
package struct RuleExpression: Sendable {
  private let expression: Expression
  private let lines: LineTable
  private let limits: RuleLimits

  /// - Parameters:
  ///   - kind: decides which variables there are.
  ///   - wildcards: the names `$x` of the path.
  package init(
    parsing text: String, as kind: RuleKind, wildcards: [String] = [], limits: RuleLimits = RuleLimits()
  ) throws(RulesProblem) {
    let source = SourceText(text)
    lines = LineTable(source.scalars)
    self.limits = limits
    do {
      expression = try TypeChecker.check(
        try ExpressionParser.parse(source, wildcards: wildcards, limits: limits), as: kind)
    } catch {
      throw error.located(lines)
    }
  }

  /// The value at `path`.
  ///
  /// - Parameter wildcards: the keys, in the order of the names.
  /// - Throws: `RuleFailure`, or what the trees throw.
  package func evaluate(
    at path: TreePath = .root, wildcards: [TreeKey] = [], _ context: RuleContext
  ) throws -> Bool {
    precondition(wildcards.count == expression.wildcards.count, "a key for each name of the path")
    var evaluator = Evaluator(
      expression: expression, context: context, path: path, wildcards: wildcards, stepsLeft: limits.steps)
    guard case .bool(let value) = try evaluator.evaluate() else { return false }
    return value
  }

  package func position(of failure: RuleFailure) -> SourcePosition { lines.position(of: failure.offset) }
}
