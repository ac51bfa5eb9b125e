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
    if case .moment(let comparison) = self { return comparison.holds(for: value, ValueOrder.compareMoments) }
    return holds(for: value, ValueOrder.compare)
  }

  private func holds(for value: JSONValue, _ order: (JSONValue, JSONValue) -> Int?) -> Bool {
    func isEqual(_ other: JSONValue) -> Bool {
      if case .string = value, case .string = other { return order(value, other) == 0 }
      return ValueOrder.areEqual(value, other)
    }
    return switch self {
    case .eq(let other): isEqual(other)
    case .ne(let other): !isEqual(other)
    case .lt(let other): order(value, other).map { $0 < 0 } ?? false
    case .le(let other): order(value, other).map { $0 <= 0 } ?? false
    case .gt(let other): order(value, other).map { $0 > 0 } ?? false
    case .ge(let other): order(value, other).map { $0 >= 0 } ?? false
    case .between(let low, let high):
      (order(value, low).map { $0 >= 0 } ?? false) && (order(value, high).map { $0 <= 0 } ?? false)
    case .beginsWith(let prefix): value.string.map { $0.utf8.starts(with: prefix.text.utf8) } ?? false
    case .contains(let part): ValueOrder.contains(value, part)
    case .notContains(let part): !ValueOrder.contains(value, part)
    case .in(let list): list.contains(where: isEqual)
    case .notIn(let list): !list.contains(where: isEqual)
    case .attributeExists(let exists): value.isNull != exists
    case .attributeType(let type): type.describes(value)
    case .size(let comparison): ValueOrder.size(of: value).map(comparison.holds) ?? false
    case .moment(let comparison): comparison.holds(for: value, ValueOrder.compareMoments)
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
