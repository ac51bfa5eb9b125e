/// A predicate that a server cannot be asked for.
public struct QueryPredicateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field whose comparison cannot be said.
  public var field: String
  /// What is wrong with it.
  public var message: String

  /// Field and reason, in one line.
  public var description: String { "\(field): \(message)" }
}

extension QueryPredicate {
  /// The inputs of the server that take predicates.
  package enum FilterKind: Sendable {
    /// `ModelXFilterInput` and `ModelXConditionInput`.
    case query
    /// `ModelSubscriptionXFilterInput`, which has neither `not` nor `attributeExists`.
    case subscription
  }

  /// The predicate as the server's filter input. One comparison per object, so that fields and operators never meet in
  /// one object, where servers differ about what that means.
  ///
  /// Negations of subscription filters are carried inwards to the comparisons. There a field without a value fulfils
  /// the negation of an order, which is why such a negation also asks for null.
  /// - Throws: for the negation of `beginsWith` in a subscription filter, which no operator says, and for `contains`
  ///   and `notContains` of null, by which a server understands that nothing is asked.
  package func filter(_ kind: FilterKind) throws(QueryPredicateError) -> JSONObject {
    switch self {
    case .all: return JSONObject()
    case .field(let name, let comparison):
      if let plain = comparison.plain(of: name) { return try plain.filter(kind) }
      try comparison.checkOperand(of: name)
      return comparison.filter(of: name, kind)
    case .related(let name, _):
      throw QueryPredicateError(field: name, message: "a server's filters do not follow relations")
    case .and(let parts): return ["and": .array(try Self.filters(parts, kind))]
    case .or(let parts): return ["or": .array(try Self.filters(parts, kind))]
    case .not(let part):
      switch kind {
      case .query: return ["not": .object(try part.filter(kind))]
      case .subscription: return try part.negated().filter(kind)
      }
    }
  }

  private static func filters(_ parts: [QueryPredicate], _ kind: FilterKind) throws(QueryPredicateError) -> [JSONValue]
  {
    var filters: [JSONValue] = []
    for part in parts { filters.append(.object(try part.filter(kind))) }
    return filters
  }

  private func negated() throws(QueryPredicateError) -> QueryPredicate {
    switch self {
    // No record at all: an alternative among none.
    case .all: return .or([])
    case .not(let part): return part
    case .related(let name, _):
      throw QueryPredicateError(field: name, message: "a server's filters do not follow relations")
    case .and(let parts): return .or(try Self.negated(parts))
    case .or(let parts): return parts.isEmpty ? .all : .and(try Self.negated(parts))
    case .field(let name, let comparison):
      if let plain = comparison.plain(of: name) { return try plain.negated() }
      try comparison.checkOperand(of: name)
      let isNull = QueryPredicate.field(name, .equal(.null))
      switch comparison {
      case .equal(let value): return .field(name, .notEqual(value))
      case .notEqual(let value): return .field(name, .equal(value))
      case .contains(let value): return .field(name, .notContains(value))
      case .notContains(let value): return .field(name, .contains(value))
      case .lessThan(let value): return .or([.field(name, .greaterOrEqual(value)), isNull])
      case .lessOrEqual(let value): return .or([.field(name, .greaterThan(value)), isNull])
      case .greaterThan(let value): return .or([.field(name, .lessOrEqual(value)), isNull])
      case .greaterOrEqual(let value): return .or([.field(name, .lessThan(value)), isNull])
      case .between(let low, let high):
        return .or([.field(name, .lessThan(low)), .field(name, .greaterThan(high)), isNull])
      case .beginsWith:
        throw QueryPredicateError(field: name, message: "subscription filters cannot negate beginsWith")
      }
    }
  }

  private static func negated(_ parts: [QueryPredicate]) throws(QueryPredicateError) -> [QueryPredicate] {
    var negations: [QueryPredicate] = []
    for part in parts { negations.append(try part.negated()) }
    return negations
  }
}

extension QueryOperator {
  /// What means the same without infinite numbers and NaN, which JSON does not have, and without an order with null,
  /// which no value has and whose negation every value fulfils; nil for a comparison without them.
  fileprivate func plain(of name: String) -> QueryPredicate? {
    let never = QueryPredicate.or([])
    let hasValue = QueryPredicate.field(name, .notEqual(.null))
    switch self {
    case .lessThan(.null), .lessOrEqual(.null), .greaterThan(.null), .greaterOrEqual(.null), .between(.null, _),
      .between(_, .null):
      return never
    case .equal(.double(let number)) where !number.isFinite, .contains(.double(let number)) where !number.isFinite:
      return never
    case .notEqual(.double(let number)) where !number.isFinite,
      .notContains(.double(let number)) where !number.isFinite:
      return .all
    case .lessThan(.double(let number)) where !number.isFinite,
      .lessOrEqual(.double(let number)) where !number.isFinite:
      return number == .infinity ? hasValue : never
    case .greaterThan(.double(let number)) where !number.isFinite,
      .greaterOrEqual(.double(let number)) where !number.isFinite:
      return number == -.infinity ? hasValue : never
    case .between(.double(let low), let high) where !low.isFinite:
      return .and([.field(name, .greaterOrEqual(.double(low))), .field(name, .lessOrEqual(high))])
    case .between(let low, .double(let high)) where !high.isFinite:
      return .and([.field(name, .greaterOrEqual(low)), .field(name, .lessOrEqual(.double(high)))])
    case .equal, .notEqual, .lessThan, .lessOrEqual, .greaterThan, .greaterOrEqual, .contains, .notContains,
      .beginsWith, .between:
      return nil
    }
  }

  fileprivate func checkOperand(of name: String) throws(QueryPredicateError) {
    switch self {
    case .contains(.null), .notContains(.null):
      throw QueryPredicateError(field: name, message: "a server's filters cannot ask whether a list contains null")
    case .equal, .notEqual, .lessThan, .lessOrEqual, .greaterThan, .greaterOrEqual, .contains, .notContains,
      .beginsWith, .between:
      return
    }
  }

  fileprivate func filter(of name: String, _ kind: QueryPredicate.FilterKind) -> JSONObject {
    let member: (key: String, value: JSONValue)
    switch self {
    case .equal(.null) where kind == .query: member = ("attributeExists", false)
    case .notEqual(.null) where kind == .query: member = ("attributeExists", true)
    case .equal(let value): member = ("eq", value)
    case .notEqual(let value): member = ("ne", value)
    case .lessThan(let value): member = ("lt", value)
    case .lessOrEqual(let value): member = ("le", value)
    case .greaterThan(let value): member = ("gt", value)
    case .greaterOrEqual(let value): member = ("ge", value)
    case .contains(let value): member = ("contains", value)
    case .notContains(let value): member = ("notContains", value)
    case .beginsWith(let text): member = ("beginsWith", .string(text))
    case .between(let low, let high): member = ("between", [low, high])
    }
    return [name: .object(JSONObject([member]))]
  }
}
