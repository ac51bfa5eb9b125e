/// Why a rules file or an expression was refused, and where.
package struct RulesProblem: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// Not the JSON of a rules file, or not an expression.
    case syntax
    /// JSON that is not a rule set: a member that is not allowed where it stands.
    case structure
    /// A variable, a method or a member that does not exist.
    case unknownName
    /// Operands or arguments of a type that is not allowed.
    case type
    /// A regular expression that cannot be compiled.
    case pattern
    /// A limit of `RuleLimits` was exceeded.
    case limit
  }

  package let code: Code
  package let message: String
  package let position: SourcePosition
  /// The rule or the node concerned, as `/users/$uid/.read`; empty for a single expression.
  package let path: String

  package init(_ code: Code, _ message: String, at position: SourcePosition, path: String = "") {
    self.code = code
    self.message = message
    self.position = position
    self.path = path
  }

  package var description: String { "\(position): " + (path.isEmpty ? "" : "\(path): ") + message }
}

/// A problem whose position is still an offset into the text.
struct OffsetProblem: Error {
  let code: RulesProblem.Code
  let message: String
  let offset: Int

  init(_ code: RulesProblem.Code, _ message: String, at offset: Int) {
    self.code = code
    self.message = message
    self.offset = offset
  }

  func located(_ lines: LineTable, path: String = "") -> RulesProblem {
    RulesProblem(code, message, at: lines.position(of: offset), path: path)
  }
}
