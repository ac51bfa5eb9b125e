public import MartletGraphQLClient

/// The operators of Amplify's `QueryField` by their names, for code that was written with them.
extension ModelKey {
  /// The same as `==`.
  public func eq(_ value: some QueryOperand) -> QueryPredicate { self == value }
  /// The same as `!=`: records whose field has another value, or none.
  public func ne(_ value: some QueryOperand) -> QueryPredicate { self != value }
  /// The same as `<`.
  public func lt(_ value: some QueryOperand) -> QueryPredicate { self < value }
  /// The same as `<=`.
  public func le(_ value: some QueryOperand) -> QueryPredicate { self <= value }
  /// The same as `>`.
  public func gt(_ value: some QueryOperand) -> QueryPredicate { self > value }
  /// The same as `>=`.
  public func ge(_ value: some QueryOperand) -> QueryPredicate { self >= value }
  /// The contrary of `contains`: records without a value, too.
  public func notContains(_ value: some QueryOperand) -> QueryPredicate {
    .field(stringValue, .notContains(value.queryValue))
  }
  /// Records whose field has a value, or has none.
  public func attributeExists(_ exists: Bool) -> QueryPredicate { exists ? self != nil : self == nil }
}

extension QuerySort {
  /// Several orders, the first being the most important, as Amplify's `.by(.ascending(…), .descending(…))`.
  public static func by(_ orders: Order...) -> QuerySort { QuerySort(orders) }
}
