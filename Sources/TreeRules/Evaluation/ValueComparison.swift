import MartletJSON
import MartletJSONTree

/// Equality and order of values.
enum ValueComparison {
  /// `==` and `===` mean the same: values of different types are not equal. Numbers compare by value, texts by bytes.
  static func areEqual(_ one: RuleValue, _ two: RuleValue) -> Bool {
    switch (one, two) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int, .int), (.int, .double), (.double, .int), (.double, .double): order(one, two) == 0
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.claims(let a), .claims(let b)): a == b
    case (.null, _), (.bool, _), (.int, _), (.double, _), (.string, _), (.claims, _), (.node, _), (.snapshot, _),
      (.query, _), (.list, _), (.pattern, _):
      false
    }
  }

  /// Negative, zero or positive for two values of one type; nil beside NaN. Exact, also for integers beyond the
  /// doubles; texts by UTF-16 code units.
  static func order(_ one: RuleValue, _ two: RuleValue) -> Int? {
    if one.number?.isNaN == true || two.number?.isNaN == true { return nil }
    guard let left = scalar(one), let right = scalar(two) else { return 0 }
    return left == right ? 0 : left < right ? -1 : 1
  }

  private static func scalar(_ value: RuleValue) -> TreeScalar? {
    switch value {
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .null, .bool, .claims, .node, .snapshot, .query, .list, .pattern: nil
    }
  }
}

/// Arithmetic of numbers: exact on 64-bit integers, as doubles where these do not suffice.
enum Arithmetic {
  /// Nil when an operand is not a number.
  static func apply(_ kind: Expression.Operator, _ one: RuleValue, _ two: RuleValue) -> RuleValue? {
    guard let left = one.number, let right = two.number else { return nil }
    if case .int(let a) = one, case .int(let b) = two, let exact = integer(kind, a, b) { return .int(exact) }
    switch kind {
    case .add: return RuleValue(number: left + right)
    case .subtract: return RuleValue(number: left - right)
    case .multiply: return RuleValue(number: left * right)
    // Division by zero is not a number, in the Realtime Database too.
    case .divide: return RuleValue(number: right == 0 ? .nan : left / right)
    case .remainder: return RuleValue(number: left.truncatingRemainder(dividingBy: right))
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return nil
    }
  }

  private static func integer(_ kind: Expression.Operator, _ a: Int64, _ b: Int64) -> Int64? {
    let (result, overflow): (Int64, Bool)
    switch kind {
    case .add: (result, overflow) = a.addingReportingOverflow(b)
    case .subtract: (result, overflow) = a.subtractingReportingOverflow(b)
    case .multiply: (result, overflow) = a.multipliedReportingOverflow(by: b)
    case .remainder:
      guard b != 0 else { return nil }
      (result, overflow) = a.remainderReportingOverflow(dividingBy: b)
    case .divide, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return nil
    }
    return overflow ? nil : result
  }
}
