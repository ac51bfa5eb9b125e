/// What a rule set may cost, at deployment and at each evaluation. Exceeding one of these is a typed error that names
/// the limit.
package struct RuleLimits: Hashable, Sendable {
  /// Bytes of a whole rules file. A million keeps the check of a file below a second.
  package var fileBytes = 1_048_576
  /// Bytes of one expression. Webcom allows 2,048; the Realtime Database has no stated limit.
  package var expressionBytes = 16_384
  /// Levels of nodes in a rules file: one more than the tree has, for the root.
  package var levels = 33
  /// Levels of one expression. Evaluation uses one stack frame for each.
  package var expressionDepth = 100
  /// Instructions of one compiled regular expression; `{1,1000}` repeats what stands before it. Matching costs at most
  /// this number for each character of the text.
  package var patternInstructions = 2_000
  /// Steps of one evaluation: one for each part of the expression, and one for each 64 bytes or 64 instructions that
  /// text operations and matches go through. A rule of a hundred parts uses a hundred.
  package var steps = 100_000
  /// Problems that one check reports; more are the consequence of the first ones.
  package var problems = 100

  package init() {}
}
