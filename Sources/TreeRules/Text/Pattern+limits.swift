internal import MartletPatterns

extension Pattern {
  /// A regular expression of a rule, under the limits of rules.
  init(_ text: String, ignoresCase: Bool, limits: RuleLimits) throws(PatternProblem) {
    try self.init(
      text, ignoresCase: ignoresCase, depth: limits.expressionDepth, instructions: limits.patternInstructions)
  }
}
