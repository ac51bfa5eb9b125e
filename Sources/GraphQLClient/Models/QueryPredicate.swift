/// Which records are meant: a condition on a model's fields. A value; composing one never changes its parts.
///
///     let post = Post.keys
///     let good = post.title.beginsWith("post") && post.rating > 10.0
///
/// Text compares by its bytes. A field that is null fulfils only `!=` with a value, `== nil`, and negations.
public indirect enum QueryPredicate: Sendable, Hashable {
  /// Every record.
  case all
  /// One field against an operand.
  case field(String, QueryOperator)
  /// All of these.
  case and([QueryPredicate])
  /// At least one of these.
  case or([QueryPredicate])
  /// Not this one.
  case not(QueryPredicate)
  /// The relation of this name leads to a record that fulfils the predicate. Stores on the device understand it; no
  /// server's filter does.
  case related(String, QueryPredicate)
}

/// What a field is compared with.
public enum QueryOperator: Sendable, Hashable {
  /// The same value; null for fields without one.
  case equal(JSONValue)
  /// Another value, or none.
  case notEqual(JSONValue)
  /// Less.
  case lessThan(JSONValue)
  /// Less or the same.
  case lessOrEqual(JSONValue)
  /// More.
  case greaterThan(JSONValue)
  /// More or the same.
  case greaterOrEqual(JSONValue)
  /// Text that has this part, or a list that has this element.
  case contains(JSONValue)
  /// The contrary of `contains`.
  case notContains(JSONValue)
  /// Text that starts so.
  case beginsWith(String)
  /// Within these bounds, both included.
  case between(JSONValue, JSONValue)
}

/// A value that fields are compared with.
public protocol QueryOperand {
  /// The value as JSON.
  var queryValue: JSONValue { get }
}

extension String: QueryOperand {
  /// The value as JSON.
  public var queryValue: JSONValue { .string(self) }
}

extension Bool: QueryOperand {
  /// The value as JSON.
  public var queryValue: JSONValue { .bool(self) }
}

extension Int: QueryOperand {
  /// The value as JSON.
  public var queryValue: JSONValue { .int(Int64(self)) }
}

extension Int32: QueryOperand {
  /// The value as JSON.
  public var queryValue: JSONValue { .int(Int64(self)) }
}

extension Int64: QueryOperand {
  /// The value as JSON.
  public var queryValue: JSONValue { .int(self) }
}

extension Double: QueryOperand {
  /// The value as JSON.
  public var queryValue: JSONValue { .double(self) }
}

extension JSONValue: QueryOperand {
  /// The value as JSON.
  public var queryValue: JSONValue { self }
}

extension Optional: QueryOperand where Wrapped: QueryOperand {
  /// The value as JSON; null for none.
  public var queryValue: JSONValue { self?.queryValue ?? .null }
}

extension QueryOperand where Self: RawRepresentable, RawValue: QueryOperand {
  /// The raw value as JSON.
  public var queryValue: JSONValue { rawValue.queryValue }
}

extension ModelKey {
  private func compared(_ comparison: QueryOperator) -> QueryPredicate { .field(stringValue, comparison) }

  /// Records whose field has this value.
  public static func == (key: Self, value: some QueryOperand) -> QueryPredicate {
    key.compared(.equal(value.queryValue))
  }
  /// Records whose field has no value.
  public static func == (key: Self, value: JSONNull) -> QueryPredicate { key.compared(.equal(.null)) }
  /// Records whose field has another value, or none.
  public static func != (key: Self, value: some QueryOperand) -> QueryPredicate {
    key.compared(.notEqual(value.queryValue))
  }
  /// Records whose field has a value.
  public static func != (key: Self, value: JSONNull) -> QueryPredicate { key.compared(.notEqual(.null)) }
  /// Records whose field is less.
  public static func < (key: Self, value: some QueryOperand) -> QueryPredicate {
    key.compared(.lessThan(value.queryValue))
  }
  /// Records whose field is less or the same.
  public static func <= (key: Self, value: some QueryOperand) -> QueryPredicate {
    key.compared(.lessOrEqual(value.queryValue))
  }
  /// Records whose field is more.
  public static func > (key: Self, value: some QueryOperand) -> QueryPredicate {
    key.compared(.greaterThan(value.queryValue))
  }
  /// Records whose field is more or the same.
  public static func >= (key: Self, value: some QueryOperand) -> QueryPredicate {
    key.compared(.greaterOrEqual(value.queryValue))
  }
  /// Records whose text starts so.
  public func beginsWith(_ text: String) -> QueryPredicate { compared(.beginsWith(text)) }
  /// Records whose text has this part, or whose list has this element.
  public func contains(_ value: some QueryOperand) -> QueryPredicate { compared(.contains(value.queryValue)) }
  /// Records whose relation leads to at least one record that fulfils the predicate:
  /// `comment.post.with(post.rating > 5)`, `post.comments.with(.all)`. In the local store only.
  public func with(_ predicate: QueryPredicate) -> QueryPredicate { .related(stringValue, predicate) }
  /// Records whose field lies within these bounds, both included.
  public func between(start: some QueryOperand, end: some QueryOperand) -> QueryPredicate {
    compared(.between(start.queryValue, end.queryValue))
  }
}

/// The absence of a value, written as `nil`: `post.rating == nil`.
public struct JSONNull: ExpressibleByNilLiteral, Sendable {
  /// The absence of a value.
  public init(nilLiteral: ()) {}
}

extension QueryPredicate {
  /// Records that fulfil both.
  public static func && (left: QueryPredicate, right: QueryPredicate) -> QueryPredicate {
    .and(left.conjuncts + right.conjuncts)
  }

  /// Records that fulfil one or both.
  public static func || (left: QueryPredicate, right: QueryPredicate) -> QueryPredicate {
    .or(left.disjuncts + right.disjuncts)
  }

  /// Records that do not fulfil it.
  public static prefix func ! (predicate: QueryPredicate) -> QueryPredicate { .not(predicate) }

  private var conjuncts: [QueryPredicate] {
    switch self {
    case .and(let parts): parts
    case .all, .field, .or, .not, .related: [self]
    }
  }

  private var disjuncts: [QueryPredicate] {
    switch self {
    case .or(let parts): parts
    case .all, .field, .and, .not, .related: [self]
    }
  }
}
