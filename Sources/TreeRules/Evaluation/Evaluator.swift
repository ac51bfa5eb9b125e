import MartletJSON
import MartletJSONTree

/// Why an expression has no value; a rule that fails is false.
package struct RuleFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// An operand or an argument of a type that is not allowed.
    case type
    /// `parent()` of the root.
    case noParent
    /// The limit `steps` was reached.
    case steps
  }

  package let code: Code
  package let message: String
  /// Into the file that holds the rule.
  let offset: Int

  package var description: String { message }
}

/// Evaluates one expression. Errors of the trees are thrown as they are; failures of the expression are `RuleFailure`.
struct Evaluator {
  let expression: Expression
  let context: RuleContext
  /// The node at which the rule stands.
  let path: TreePath
  /// The keys bound to the path's `$names`, from the root down.
  let wildcards: [TreeKey]
  var stepsLeft: Int
  /// Called with each part that was evaluated.
  var trace: ((Expression.ID, RuleValue) -> Void)?

  mutating func evaluate() throws -> RuleValue { try value(of: expression.root) }

  func failure(_ code: RuleFailure.Code, _ message: String, at id: Int) -> RuleFailure {
    RuleFailure(code: code, message: message, offset: expression.nodes[id].offsets.lowerBound)
  }

  mutating func spend(_ steps: Int, at id: Int) throws(RuleFailure) {
    stepsLeft -= steps
    guard stepsLeft >= 0 else { throw failure(.steps, "the rule takes more steps than the limit steps", at: id) }
  }

  /// One step for each 64 bytes of a text.
  mutating func spend(on text: String, times: Int = 1, at id: Int) throws(RuleFailure) {
    let (cost, overflow) = (text.utf8.count / 64).multipliedReportingOverflow(by: times)
    try spend(overflow ? .max : cost, at: id)
  }

  mutating func value(of id: Expression.ID) throws -> RuleValue {
    try spend(1, at: id)
    let value = try part(expression.nodes[id].part, id)
    trace?(id, value)
    return value
  }

  private mutating func part(_ part: Expression.Part, _ id: Int) throws -> RuleValue {
    switch part {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .int(let value): return .int(value)
    case .double(let value): return RuleValue(number: value)
    case .string(let text): return .string(text)
    case .pattern: return .pattern
    case .wildcard(let index): return .string(wildcards[index].text)
    case .variable(let variable): return value(of: variable)
    case .queryValue(let member): return member.value(in: context.query)
    case .list(let elements):
      var texts: [String] = []
      for element in elements { texts.append(try string(element, "an element of a list is")) }
      return .list(texts)
    case .not(let operand): return .bool(!(try bool(operand)))
    case .negate(let operand): return try negated(operand)
    case .and(let operands):
      for operand in operands where !(try bool(operand)) { return .bool(false) }
      return .bool(true)
    case .or(let operands):
      for operand in operands where try bool(operand) { return .bool(true) }
      return .bool(false)
    case .conditional(let test, let one, let two): return try value(of: try bool(test) ? one : two)
    case .binary(let kind, let left, let right): return try binary(kind, left, right)
    case .member(let object, let name): return member(name, of: try value(of: object))
    case .element(let object, let key): return try element(key, of: try value(of: object))
    case .invoke(let receiver, let method, let arguments): return try invoke(method, receiver, arguments, id)
    case .call: throw failure(.type, "the expression was not checked", at: id)
    }
  }

  private func value(of variable: Expression.Variable) -> RuleValue {
    switch variable {
    case .auth: RuleValue(context.auth)
    case .now: .int(context.now)
    case .root: .snapshot(RuleSnapshot(path: .root, isNew: false))
    case .data: .snapshot(RuleSnapshot(path: path, isNew: false))
    case .newData: .snapshot(RuleSnapshot(path: path, isNew: true))
    case .query: .query
    }
  }

  // MARK: Operators

  private mutating func bool(_ id: Int) throws -> Bool {
    let value = try value(of: id)
    guard case .bool(let value) = value else { throw failure(.type, "expected a boolean, found \(value.kind)", at: id) }
    return value
  }

  mutating func string(_ id: Int, _ what: String) throws -> String {
    let value = try value(of: id)
    guard case .string(let text) = value else { throw failure(.type, "\(what) not a string but \(value.kind)", at: id) }
    return text
  }

  private mutating func negated(_ id: Int) throws -> RuleValue {
    switch try value(of: id) {
    case .int(let number): return number == .min ? .double(-Double(number)) : .int(-number)
    case .double(let number): return .double(-number)
    case let value: throw failure(.type, "the operand of - is not a number but \(value.kind)", at: id)
    }
  }

  private mutating func binary(_ kind: Expression.Operator, _ left: Int, _ right: Int) throws -> RuleValue {
    let (one, two) = (try value(of: left), try value(of: right))
    switch kind {
    case .equal: return .bool(ValueComparison.areEqual(one, two))
    case .notEqual: return .bool(!ValueComparison.areEqual(one, two))
    case .less: return .bool(try order(one, two, kind, left, right).map { $0 < 0 } ?? false)
    case .lessOrEqual: return .bool(try order(one, two, kind, left, right).map { $0 <= 0 } ?? false)
    case .greater: return .bool(try order(one, two, kind, left, right).map { $0 > 0 } ?? false)
    case .greaterOrEqual: return .bool(try order(one, two, kind, left, right).map { $0 >= 0 } ?? false)
    case .add:
      if let sum = Arithmetic.apply(kind, one, two) { return sum }
      let texts = (try addend(one, left), try addend(two, right))
      try spend(on: texts.0, at: left)
      try spend(on: texts.1, at: right)
      return .string(texts.0 + texts.1)
    case .subtract, .multiply, .divide, .remainder:
      if let result = Arithmetic.apply(kind, one, two) { return result }
      let (side, value, id) = one.number == nil ? ("left", one, left) : ("right", two, right)
      throw failure(.type, "the \(side) operand of \(kind.rawValue) is not a number but \(value.kind)", at: id)
    }
  }

  private func addend(_ value: RuleValue, _ id: Int) throws(RuleFailure) -> String {
    switch value {
    case .string(let text): return text
    case .int, .double: return NumberText.text(of: value)
    case .null, .bool, .claims, .node, .snapshot, .query, .list, .pattern:
      throw failure(.type, "an operand of + is not a number or a string but \(value.kind)", at: id)
    }
  }

  /// Negative, zero or positive; nil when one is not a number by arithmetic.
  private func order(
    _ one: RuleValue, _ two: RuleValue, _ kind: Expression.Operator, _ left: Int, _ right: Int
  ) throws(RuleFailure) -> Int? {
    for (value, id) in [(one, left), (two, right)] {
      switch value {
      case .null, .int, .double, .string: continue
      case .bool, .claims, .node, .snapshot, .query, .list, .pattern:
        throw failure(.type, "an operand of \(kind.rawValue) is \(value.kind)", at: id)
      }
    }
    guard one.type == two.type else {
      throw failure(
        .type, "the operands of \(kind.rawValue) are of different types: \(one.kind) and \(two.kind)", at: left)
    }
    return ValueComparison.order(one, two)
  }

  // MARK: Claims

  /// A member of `auth`, or the length of a string. What does not exist is null.
  private func member(_ name: String, of value: RuleValue) -> RuleValue {
    switch value {
    case .string(let text): return name == "length" ? .int(Int64(text.utf16.count)) : .null
    case .claims(let json): return json[name].map { RuleValue($0) } ?? .null
    case .null, .bool, .int, .double, .node, .snapshot, .query, .list, .pattern: return .null
    }
  }

  private mutating func element(_ key: Int, of value: RuleValue) throws -> RuleValue {
    switch try self.value(of: key) {
    case .string(let name): return member(name, of: value)
    case .int(let index):
      guard case .claims(.array(let elements)) = value, index >= 0, index < elements.count else { return .null }
      return RuleValue(elements[Int(index)])
    case let other: throw failure(.type, "the key is not a string but \(other.kind)", at: key)
    }
  }
}
