package import MartletJSON

extension Predicate {
  /// Whether `record` fulfils the condition.
  package func matches(_ record: Record) -> Bool {
    switch self {
    case .all: true
    case .none: false
    case .and(let parts): parts.allSatisfy { $0.matches(record) }
    case .or(let parts): parts.contains { $0.matches(record) }
    case .not(let part): !part.matches(record)
    case .compare(let field, let comparison): comparison.holds(for: record[field])
    }
  }
}

extension Comparison {
  /// Whether the comparison holds for a field's value.
  package func holds(for value: JSONValue) -> Bool {
    switch self {
    case .eq(let other): ValueOrder.areEqual(value, other)
    case .ne(let other): !ValueOrder.areEqual(value, other)
    case .lt(let other): ValueOrder.compare(value, other).map { $0 < 0 } ?? false
    case .le(let other): ValueOrder.compare(value, other).map { $0 <= 0 } ?? false
    case .gt(let other): ValueOrder.compare(value, other).map { $0 > 0 } ?? false
    case .ge(let other): ValueOrder.compare(value, other).map { $0 >= 0 } ?? false
    case .between(let low, let high):
      (ValueOrder.compare(value, low).map { $0 >= 0 } ?? false)
        && (ValueOrder.compare(value, high).map { $0 <= 0 } ?? false)
    case .beginsWith(let prefix): value.string.map { $0.utf8.starts(with: prefix.text.utf8) } ?? false
    case .contains(let part): ValueOrder.contains(value, part)
    case .notContains(let part): !ValueOrder.contains(value, part)
    case .in(let list): list.contains { ValueOrder.areEqual(value, $0) }
    case .notIn(let list): !list.contains { ValueOrder.areEqual(value, $0) }
    case .attributeExists(let exists): value.isNull != exists
    case .attributeType(let type): type.describes(value)
    case .size(let comparison): ValueOrder.size(of: value).map(comparison.holds) ?? false
    }
  }
}

extension SizeComparison {
  package func holds(for size: Int64) -> Bool {
    switch self {
    case .eq(let other): size == other
    case .ne(let other): size != other
    case .lt(let other): size < other
    case .le(let other): size <= other
    case .gt(let other): size > other
    case .ge(let other): size >= other
    case .between(let low, let high): size >= low && size <= high
    }
  }
}

extension AttributeType {
  /// Whether `value` is of this type. Sets and binary values do not occur in GraphQL data.
  package func describes(_ value: JSONValue) -> Bool {
    switch value {
    case .null: self == .null
    case .bool: self == .bool
    case .int, .uint, .double: self == .number
    case .string: self == .string
    case .array: self == .list
    case .object: self == .map
    }
  }
}
