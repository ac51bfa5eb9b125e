package import MartletJSON

/// A condition on a record, with one meaning in memory and in SQL.
///
/// Two-valued: unknown does not exist. Values of different kinds (text, number, truth value, list) are unequal and have
/// no order, and `null` is equal to `null` alone. So `ne` is the exact negation of `eq`, `notIn` of `in`, `notContains`
/// of `contains`, and every order comparison with `null` is false. Text compares by UTF-8 bytes, numbers by value
/// across integers and doubles, exactly; what is not a number (NaN) is equal to nothing and has no order. Dates and
/// times are text; `Comparison.moment` says that they are compared by what they mean.
package indirect enum Predicate: Sendable, Hashable {
  /// Always true.
  case all
  /// Never true.
  case none
  /// True when every part is; an empty list is true.
  case and([Predicate])
  /// True when some part is; an empty list is false.
  case or([Predicate])
  case not(Predicate)
  /// A comparison of the field at a position in the model.
  case compare(field: Int, Comparison)
}

extension Predicate {
  /// The positions of the fields that the condition reads.
  package var fields: Set<Int> {
    switch self {
    case .all, .none: []
    case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.fields) }
    case .not(let part): part.fields
    case .compare(let field, _): [field]
    }
  }
}

/// What a field is compared with.
package enum Comparison: Sendable, Hashable {
  case eq(JSONValue)
  case ne(JSONValue)
  case lt(JSONValue)
  case le(JSONValue)
  case gt(JSONValue)
  case ge(JSONValue)
  /// Both ends included. In a box of its own: two values here would make every comparison twice as large.
  indirect case between(JSONValue, JSONValue)
  /// Text that starts with these bytes.
  case beginsWith(TextPrefix)
  /// Text that has this text somewhere, or a list that has this element.
  case contains(JSONValue)
  case notContains(JSONValue)
  /// Equal to one of the list; never for an empty list.
  case `in`([JSONValue])
  case notIn([JSONValue])
  /// Whether the field has a value.
  case attributeExists(Bool)
  case attributeType(AttributeType)
  /// The size of text in UTF-8 bytes or of a list in elements, compared with a number; false without a size.
  case size(SizeComparison)
  /// A comparison of whole values in which texts are dates and times, equal and ordered by the moments that they mean.
  indirect case moment(Comparison)
}

extension Comparison {
  /// What the comparison is over a field of dates or times.
  package var ofMoments: Comparison {
    switch self {
    case .eq(.string), .ne(.string), .lt(.string), .le(.string), .gt(.string), .ge(.string), .between, .in, .notIn:
      .moment(self)
    case .eq, .ne, .lt, .le, .gt, .ge, .beginsWith, .contains, .notContains, .attributeExists, .attributeType, .size,
      .moment:
      self
    }
  }
}

/// The text of `beginsWith`. It is equal to text of the same bytes only: conditions that are equal are evaluated once
/// for all that have them, and `String` also equates composed and decomposed forms.
package struct TextPrefix: Sendable, Hashable, ExpressibleByStringLiteral {
  package let text: String

  package init(_ text: String) { self.text = text }
  package init(stringLiteral text: String) { self.text = text }

  package static func == (left: TextPrefix, right: TextPrefix) -> Bool { left.text.hasSameBytes(as: right.text) }
  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

/// The kinds of value that `attributeType` distinguishes (AppSync's `ModelAttributeTypes`).
package enum AttributeType: String, Sendable, Hashable, CaseIterable {
  case binary, binarySet, bool, list, map, number, numberSet, string, stringSet
  case null = "_null"
}

/// A comparison of a size.
package enum SizeComparison: Sendable, Hashable {
  case eq(Int64)
  case ne(Int64)
  case lt(Int64)
  case le(Int64)
  case gt(Int64)
  case ge(Int64)
  case between(Int64, Int64)
}
