internal import MartletPatterns

/// Collects the values of parts of rules: for explanations, and for the coverage of tests.
package final class RuleTrace {
  /// One part of a rule and how often it had which value.
  package struct Part: Hashable, Sendable {
    package let rule: String
    package let position: SourcePosition
    package let source: String
    package internal(set) var wasTrue = 0
    package internal(set) var wasFalse = 0
    /// Values that are not booleans.
    package internal(set) var other = 0
    /// The last value.
    package internal(set) var value: String?
  }

  private struct Key: Hashable {
    var rule: Int
    var part: Int
  }

  private let rules: RuleSet
  private var parts: [Key: Part] = [:]
  private var failures: [Int: Int] = [:]

  package init(_ rules: RuleSet) {
    self.rules = rules
  }

  func record(_ rule: Int, _ id: Int, _ value: RuleValue) {
    let key = Key(rule: rule, part: id)
    var part = parts[key] ?? make(key)
    switch value {
    case .bool(true): part.wasTrue += 1
    case .bool(false): part.wasFalse += 1
    case .null, .int, .double, .string, .claims, .node, .snapshot, .query, .list, .pattern: part.other += 1
    }
    part.value = value.summary
    parts[key] = part
  }

  func recordFailure(_ rule: Int) { failures[rule, default: 0] += 1 }

  /// Adds what another trace of the same rules counted.
  func add(_ other: RuleTrace) {
    for (key, part) in other.parts {
      var sum = parts[key] ?? make(key)
      sum.wasTrue += part.wasTrue
      sum.wasFalse += part.wasFalse
      sum.other += part.other
      sum.value = part.value
      parts[key] = sum
    }
    failures.merge(other.failures, uniquingKeysWith: +)
  }

  private func make(_ key: Key) -> Part {
    let rule = rules.rules[key.rule]
    let node = rule.expression.nodes[key.part]
    return Part(
      rule: rule.path, position: rules.lines.position(of: node.offsets.lowerBound),
      source: ExpressionText.text(of: key.part, in: rule.expression))
  }

  /// The parts that had a value, rule by rule, the innermost first; literals are left out.
  package var values: [Part] {
    parts.sorted { ($0.key.rule, $0.key.part) < ($1.key.rule, $1.key.part) }
      .filter { !rules.rules[$0.key.rule].expression.nodes[$0.key.part].part.isLiteral }.map(\.value)
  }

  /// How often each rule was true, false or failed; rules that were never evaluated are there with zeros.
  package var coverage: [RuleCoverage] {
    rules.rules.enumerated().map { index, rule in
      let whole = parts[Key(rule: index, part: rule.expression.root)]
      return RuleCoverage(
        rule: rule.path, source: rule.source, position: rule.position, wasTrue: whole?.wasTrue ?? 0,
        wasFalse: whole?.wasFalse ?? 0, failed: failures[index] ?? 0)
    }
  }
}

/// How often one rule was evaluated, by result.
package struct RuleCoverage: Hashable, Sendable {
  package let rule: String
  package let source: String
  package let position: SourcePosition
  package let wasTrue: Int
  package let wasFalse: Int
  package let failed: Int

  /// Whether the rule was both granted and refused.
  package var isComplete: Bool { wasTrue > 0 && wasFalse + failed > 0 || isConstant && wasTrue + wasFalse > 0 }
  private var isConstant: Bool { source == "true" || source == "false" }
}

extension Expression.Part {
  var isLiteral: Bool {
    switch self {
    case .null, .bool, .int, .double, .string, .pattern: true
    case .variable, .wildcard, .list, .not, .negate, .binary, .and, .or, .conditional, .member, .element, .call,
      .invoke, .queryValue:
      false
    }
  }
}

/// Writes parts of expressions as source.
enum ExpressionText {
  static func text(of id: Int, in expression: Expression) -> String {
    func text(_ id: Int) -> String { self.text(of: id, in: expression) }
    func list(_ ids: [Int]) -> String { ids.map(text).joined(separator: ", ") }
    /// With the parentheses without which it would read as something else.
    func operand(_ id: Int) -> String {
      switch expression.nodes[id].part {
      case .binary, .and, .or, .conditional: "(\(text(id)))"
      case .null, .bool, .int, .double, .string, .pattern, .variable, .wildcard, .queryValue, .list, .not, .negate,
        .member, .element, .call, .invoke:
        text(id)
      }
    }
    switch expression.nodes[id].part {
    case .null: return "null"
    case .bool(let value): return "\(value)"
    case .int(let value): return "\(value)"
    case .double(let value): return NumberText.text(of: .double(value))
    case .string(let value): return RuleValue.string(value).summary
    case .pattern(let index): return expression.patterns[index].source
    case .variable(let variable): return variable.rawValue
    case .wildcard(let index): return expression.wildcards[index]
    case .queryValue(let member): return "query.\(member.rawValue)"
    case .list(let elements): return "[\(list(elements))]"
    case .not(let part): return "!\(operand(part))"
    case .negate(let part): return "-\(operand(part))"
    case .binary(let kind, let left, let right): return "\(operand(left)) \(kind.rawValue) \(operand(right))"
    case .and(let operands): return operands.map { "(\(text($0)))" }.joined(separator: " && ")
    case .or(let operands): return operands.map { "(\(text($0)))" }.joined(separator: " || ")
    case .conditional(let test, let one, let two): return "\(operand(test)) ? \(operand(one)) : \(operand(two))"
    case .member(let object, let name): return "\(operand(object)).\(name)"
    case .element(let object, let key): return "\(operand(object))[\(text(key))]"
    case .call(let callee, let arguments): return "\(text(callee))(\(list(arguments)))"
    case .invoke(let receiver, let method, let arguments):
      return "\(operand(receiver)).\(method.rawValue)(\(list(arguments)))"
    }
  }
}
