import MartletJSON
package import MartletModels

/// What a predicate means, said a second time and as plainly as possible: the judge between memory and SQL.
///
/// Shares nothing with `Predicate.matches`: text is compared as arrays of bytes, numbers as whole part and fraction,
/// and negated operators are spelled out.
package enum NaiveEvaluator {
  package static func matches(_ predicate: Predicate, _ record: Record) -> Bool {
    switch predicate {
    case .all: return true
    case .none: return false
    case .and(let parts):
      for part in parts where matches(part, record) == false { return false }
      return true
    case .or(let parts):
      for part in parts where matches(part, record) { return true }
      return false
    case .not(let part): return matches(part, record) == false
    case .compare(let field, let comparison): return holds(comparison, record.values[field])
    }
  }

  private static func holds(_ comparison: Comparison, _ value: JSONValue) -> Bool {
    switch comparison {
    case .eq(let other): return same(value, other)
    case .ne(let other): return same(value, other) == false
    case .lt(let other): return ordered(value, other) { $0 < 0 }
    case .le(let other): return ordered(value, other) { $0 < 1 }
    case .gt(let other): return ordered(value, other) { $0 > 0 }
    case .ge(let other): return ordered(value, other) { $0 > -1 }
    case .between(let low, let high):
      return ordered(value, low) { $0 > -1 } && ordered(value, high) { $0 < 1 }
    case .beginsWith(let prefix):
      guard case .string(let text) = value else { return false }
      return Array(Array(text.utf8).prefix(prefix.text.utf8.count)) == Array(prefix.text.utf8)
    case .contains(let part): return has(value, part)
    case .notContains(let part): return has(value, part) == false
    case .in(let list): return list.filter { same(value, $0) }.count > 0
    case .notIn(let list): return list.filter { same(value, $0) }.count == 0
    case .attributeExists(let exists): return exists ? value != .null : value == .null
    case .attributeType(let type): return name(value) == type.rawValue
    case .size(let comparison): return holds(comparison, value)
    case .moment(let comparison): return holds(NaiveMoment.comparison(comparison), NaiveMoment.value(value))
    }
  }

  private static func holds(_ comparison: SizeComparison, _ value: JSONValue) -> Bool {
    var size: Int64
    if case .string(let text) = value {
      size = Int64(Array(text.utf8).count)
    } else if case .array(let elements) = value {
      size = Int64(elements.count)
    } else {
      return false
    }
    switch comparison {
    case .eq(let other): return size == other
    case .ne(let other): return size != other
    case .lt(let other): return size < other
    case .le(let other): return size < other || size == other
    case .gt(let other): return size > other
    case .ge(let other): return size > other || size == other
    case .between(let low, let high):
      size -= low
      return size >= 0 && size <= high - low
    }
  }

  private static func name(_ value: JSONValue) -> String {
    switch value {
    case .null: "_null"
    case .bool: "bool"
    case .int, .uint, .double: "number"
    case .string: "string"
    case .array: "list"
    case .object: "map"
    }
  }

  private static func same(_ left: JSONValue, _ right: JSONValue) -> Bool {
    guard name(left) == name(right) else { return false }
    switch left {
    case .int, .uint, .double, .string: return ordered(left, right) { $0 == 0 }
    case .null, .bool, .array, .object: return left == right
    }
  }

  private static func ordered(_ left: JSONValue, _ right: JSONValue, _ test: (Int) -> Bool) -> Bool {
    if case .string(let a) = left, case .string(let b) = right {
      let (a, b) = (Array(a.utf8), Array(b.utf8))
      if a == b { return test(0) }
      return test(a.lexicographicallyPrecedes(b) ? -1 : 1)
    }
    guard let a = number(left), let b = number(right) else { return false }
    if a.whole != b.whole { return test(a.whole < b.whole ? -1 : 1) }
    if a.rest != b.rest { return test(a.rest < b.rest ? -1 : 1) }
    return test(0)
  }

  /// A number as its integer part downwards and what is left. Beyond 64 bits the integer part is the nearest end and
  /// the rest grows without bound, which keeps the order.
  private static func number(_ value: JSONValue) -> (whole: Int64, rest: Double)? {
    switch value {
    case .int(let whole): return (whole, 0)
    case .uint(let whole): return (.max, Double(whole))
    case .double(let real):
      if real >= 0x1p63 { return (.max, real) }
      if real < -0x1p63 { return (.min, real) }
      let whole = Int64(real.rounded(.down))
      return (whole, real - Double(whole))
    case .null, .bool, .string, .array, .object: return nil
    }
  }

  private static func has(_ value: JSONValue, _ part: JSONValue) -> Bool {
    if case .array(let elements) = value { return elements.filter { same($0, part) }.count > 0 }
    guard case .string(let text) = value, case .string(let part) = part else { return false }
    let (bytes, wanted) = (Array(text.utf8), Array(part.utf8))
    var found = wanted.count == 0
    for start in bytes.indices where Array(bytes[start...].prefix(wanted.count)) == wanted { found = true }
    return found
  }
}
