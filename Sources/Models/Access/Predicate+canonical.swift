import MartletJSON

extension Predicate {
  /// An equivalent predicate that is equal for predicates written in another order, with repetitions or with parts that
  /// decide nothing. It is not a normal form: predicates that are equal for deeper reasons may differ.
  var canonical: Predicate {
    switch self {
    case .all, .none: return self
    case .compare(let field, let comparison): return .compare(field: field, comparison.canonical)
    case .not(let part):
      switch part.canonical {
      case .all: return .none
      case .none: return .all
      case .not(let inner): return inner
      case let inner: return .not(inner)
      }
    case .and(let parts): return Self.joined(parts, neutral: .all, deciding: .none) { .and($0) }
    case .or(let parts): return Self.joined(parts, neutral: .none, deciding: .all) { .or($0) }
    }
  }

  private static func joined(
    _ parts: [Predicate], neutral: Predicate, deciding: Predicate, _ join: ([Predicate]) -> Predicate
  ) -> Predicate {
    var distinct: [Predicate] = []
    var pending = parts.map(\.canonical)
    while let part = pending.popLast() {
      if part == deciding { return deciding }
      if part == neutral { continue }
      switch (part, neutral) {
      // A list inside a list of its kind is part of it.
      case (.and(let inner), .all), (.or(let inner), .none): pending += inner
      case (.all, _), (.none, _), (.and, _), (.or, _), (.not, _), (.compare, _): distinct.append(part)
      }
    }
    // One part alone needs no order.
    if distinct.count < 2 { return distinct.first ?? neutral }
    // By bytes: texts that are composed differently are different names.
    var known: [[UInt8]: Predicate] = [:]
    for part in distinct { known[Array(part.canonicalText.utf8)] = part }
    let sorted = known.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    return sorted.count == 1 ? sorted[0] : join(sorted)
  }

  /// One text for each predicate: values as JSON, which quotes them.
  package var canonicalText: String {
    switch self {
    case .all: "all"
    case .none: "none"
    case .and(let parts): "and(\(parts.map(\.canonicalText).joined(separator: ",")))"
    case .or(let parts): "or(\(parts.map(\.canonicalText).joined(separator: ",")))"
    case .not(let part): "not(\(part.canonicalText))"
    case .compare(let field, let comparison): "\(field) \(comparison.canonicalText)"
    }
  }
}

extension Comparison {
  /// Lists sorted and without repetitions; a list of one is an equality.
  fileprivate var canonical: Comparison {
    switch self {
    case .in(let list):
      let values = Self.distinct(list)
      return values.count == 1 ? .eq(values[0]) : .in(values)
    case .notIn(let list): return .notIn(Self.distinct(list))
    case .moment(let comparison): return .moment(comparison.canonical)
    case .eq, .ne, .lt, .le, .gt, .ge, .between, .beginsWith, .contains, .notContains, .attributeExists,
      .attributeType, .size:
      return self
    }
  }

  private static func distinct(_ list: [JSONValue]) -> [JSONValue] {
    var known: [[UInt8]: JSONValue] = [:]
    for value in list { known[value.serialized()] = value }
    return known.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
  }

  fileprivate var canonicalText: String {
    switch self {
    case .eq(let value): "eq \(value)"
    case .ne(let value): "ne \(value)"
    case .lt(let value): "lt \(value)"
    case .le(let value): "le \(value)"
    case .gt(let value): "gt \(value)"
    case .ge(let value): "ge \(value)"
    case .between(let low, let high): "between \(low) \(high)"
    case .beginsWith(let prefix): "beginsWith \(JSONValue.string(prefix.text))"
    case .contains(let value): "contains \(value)"
    case .notContains(let value): "notContains \(value)"
    case .in(let list): "in \(JSONValue.array(list))"
    case .notIn(let list): "notIn \(JSONValue.array(list))"
    case .attributeExists(let exists): "attributeExists \(exists)"
    case .attributeType(let type): "attributeType \(type.rawValue)"
    case .size(let size): "size \(size)"
    case .moment(let comparison): "moment \(comparison.canonicalText)"
    }
  }
}
