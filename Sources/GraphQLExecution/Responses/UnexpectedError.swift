public import MartletGraphQLLanguage

/// An error that a resolver or a source threw and that is not a `ResolverError`: a fault of the program, of which
/// clients see what the schema's `ErrorExposure` says.
public struct UnexpectedError: Sendable {
  /// The field whose code threw it, such as `Query.forecast`.
  public let field: String
  /// Where in the response the error is reported, from the root to the field.
  public let path: [GraphQLError.PathElement]
  /// The operation's name; nil when it has none.
  public let operation: String?
  /// What was thrown.
  public let error: any Error

  /// The path as text: keys and indices with points between them, such as `forecast.days.0`.
  public var pathText: String {
    path.map { element in
      switch element {
      case .key(let key): key
      case .index(let index): String(index)
      }
    }.joined(separator: ".")
  }
}
