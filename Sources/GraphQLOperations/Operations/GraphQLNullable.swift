/// A value that goes to a server, which may also be null or not given at all. To a server the two differ: null clears a
/// field, an absent member leaves it as it is.
///
/// The payload is held by reference, so that input objects may contain themselves.
public enum GraphQLNullable<Wrapped> {
  /// Not given: the member is left out.
  case none
  /// Null is sent.
  case null
  /// A value is sent.
  indirect case some(Wrapped)

  /// A value, or nothing where there is none.
  public init(_ value: Wrapped?) {
    self = value.map { .some($0) } ?? .none
  }

  /// The value if there is one.
  public var wrapped: Wrapped? {
    switch self {
    case .none, .null: nil
    case .some(let value): value
    }
  }
}

extension GraphQLNullable: Sendable where Wrapped: Sendable {}
extension GraphQLNullable: Equatable where Wrapped: Equatable {}
extension GraphQLNullable: Hashable where Wrapped: Hashable {}

extension GraphQLNullable: ExpressibleByNilLiteral {
  /// `nil` is `.none`: not given.
  public init(nilLiteral: ()) { self = .none }
}

extension GraphQLNullable: ExpressibleByUnicodeScalarLiteral where Wrapped: ExpressibleByUnicodeScalarLiteral {
  /// `.some` of the literal.
  public init(unicodeScalarLiteral value: Wrapped.UnicodeScalarLiteralType) {
    self = .some(Wrapped(unicodeScalarLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByExtendedGraphemeClusterLiteral
where Wrapped: ExpressibleByExtendedGraphemeClusterLiteral {
  /// `.some` of the literal.
  public init(extendedGraphemeClusterLiteral value: Wrapped.ExtendedGraphemeClusterLiteralType) {
    self = .some(Wrapped(extendedGraphemeClusterLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByStringLiteral where Wrapped: ExpressibleByStringLiteral {
  /// `.some` of the literal.
  public init(stringLiteral value: Wrapped.StringLiteralType) { self = .some(Wrapped(stringLiteral: value)) }
}

extension GraphQLNullable: ExpressibleByIntegerLiteral where Wrapped: ExpressibleByIntegerLiteral {
  /// `.some` of the literal.
  public init(integerLiteral value: Wrapped.IntegerLiteralType) { self = .some(Wrapped(integerLiteral: value)) }
}

extension GraphQLNullable: ExpressibleByFloatLiteral where Wrapped: ExpressibleByFloatLiteral {
  /// `.some` of the literal.
  public init(floatLiteral value: Wrapped.FloatLiteralType) { self = .some(Wrapped(floatLiteral: value)) }
}

extension GraphQLNullable: ExpressibleByBooleanLiteral where Wrapped: ExpressibleByBooleanLiteral {
  /// `.some` of the literal.
  public init(booleanLiteral value: Wrapped.BooleanLiteralType) { self = .some(Wrapped(booleanLiteral: value)) }
}

extension GraphQLNullable: ExpressibleByArrayLiteral where Wrapped: RangeReplaceableCollection {
  /// `.some` of the list.
  public init(arrayLiteral elements: Wrapped.Element...) { self = .some(Wrapped(elements)) }
}
