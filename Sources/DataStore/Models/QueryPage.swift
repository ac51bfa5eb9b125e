public import MartletGraphQLClient

/// A page of a query's result.
public struct QueryPage: Sendable, Hashable {
  /// The page's number, from zero.
  public var page: UInt
  /// Records of a page: 100 by default, as in the original.
  public var limit: UInt

  /// The page with this number.
  public static func page(_ page: UInt, limit: UInt = 100) -> QueryPage { QueryPage(page: page, limit: limit) }
  /// The first 100 records.
  public static var firstPage: QueryPage { .page(0) }
  /// The first record.
  public static var firstResult: QueryPage { .page(0, limit: 1) }
}

extension ModelKey {
  /// Records whose field has one of these values; none for an empty list.
  public func `in`(_ values: [some QueryOperand]) -> QueryPredicate {
    .or(values.map { .field(stringValue, .equal($0.queryValue)) })
  }
}
