internal import MartletJSON

/// A value in exactly the form a column holds it; nil when no value of the column can equal it.
struct ExactValue {
  let value: SQLValue

  init?(_ other: JSONValue, _ storage: ColumnStorage) {
    switch (storage, other) {
    case (.text, .string(let text)): value = .text(Array(text.utf8))
    case (.boolean, .bool(let flag)): value = .integer(flag ? 1 : 0)
    case (.integer, .int(let number)): value = .integer(number)
    case (.integer, .double(let number)):
      guard let whole = Int64(exactly: number) else { return nil }
      value = .integer(whole)
    case (.real, .double(let number)):
      // SQLite binds it as null.
      if number.isNaN { return nil }
      value = .real(number)
    case (.real, .int(let number)):
      guard let real = Double(exactly: number) else { return nil }
      value = .real(real)
    case (.real, .uint(let number)):
      guard let real = Double(exactly: number) else { return nil }
      value = .real(real)
    case (.text, _), (.boolean, _), (.integer, _), (.real, _), (.json, _): return nil
    }
  }
}

/// The four order comparisons, as SQL writes them.
enum OrderRelation: String {
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  var isUpper: Bool {
    switch self {
    case .less, .lessOrEqual: true
    case .greater, .greaterOrEqual: false
    }
  }
}

/// An order comparison brought to the column's own type without rounding.
enum OrderBound {
  /// True for no value.
  case nothing
  /// True for every value that is not null.
  case everything
  case bound(OrderRelation, SQLValue)

  init(_ relation: OrderRelation, _ value: JSONValue, _ storage: ColumnStorage) {
    switch (storage, value) {
    case (.text, .string(let text)): self = .bound(relation, .text(Array(text.utf8)))
    case (.integer, .int(let number)): self = .bound(relation, .integer(number))
    case (.integer, .uint): self = relation.isUpper ? .everything : .nothing
    case (.integer, .double(let number)): self = Self.whole(relation, number)
    case (.real, .double(let number)): self = number.isNaN ? .nothing : .bound(relation, .real(number))
    case (.real, .int(let number)):
      self = Self.real(relation, Double(number), error: Self.error(of: Double(number), from: number))
    case (.real, .uint(let number)):
      self = Self.real(relation, Double(number), error: Self.error(of: Double(number), from: number))
    // Other kinds have no order between them.
    case (.text, _), (.integer, _), (.real, _), (.boolean, _), (.json, _): self = .nothing
    }
  }

  /// A comparison of whole numbers with a real one.
  private static func whole(_ relation: OrderRelation, _ number: Double) -> OrderBound {
    if number >= 0x1p63 { return relation.isUpper ? .everything : .nothing }
    if number < -0x1p63 { return relation.isUpper ? .nothing : .everything }
    let floor = number.rounded(.down)
    guard let below = Int64(exactly: floor) else { return .nothing }
    if floor == number { return .bound(relation, .integer(below)) }
    // Between two whole numbers: what is less is at most the lower one, what is greater is more than it.
    return .bound(relation.isUpper ? .lessOrEqual : .greater, .integer(below))
  }

  /// Whether rounding a whole number to a double went up (1), down (-1) or nowhere (0).
  private static func error<Number: FixedWidthInteger>(of rounded: Double, from number: Number) -> Int {
    if rounded == Double(exactly: number) { return 0 }
    // A double that left the integer's range was rounded up to a power of two: the smallest integer is one itself.
    guard let back = Number(exactly: rounded) else { return 1 }
    return back > number ? 1 : -1
  }

  /// A comparison of reals with a whole number that became `rounded`.
  private static func real(_ relation: OrderRelation, _ rounded: Double, error: Int) -> OrderBound {
    if error == 0 { return .bound(relation, .real(rounded)) }
    // No double lies between the number and its rounding, so one strict or inclusive comparison says it all.
    if error > 0 { return .bound(relation.isUpper ? .less : .greaterOrEqual, .real(rounded)) }
    return .bound(relation.isUpper ? .lessOrEqual : .greater, .real(rounded))
  }
}
