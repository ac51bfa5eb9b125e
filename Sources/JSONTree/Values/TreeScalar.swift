package import MartletJSON

/// The value of a leaf. A number that is integral and fits 64 bits is `.int`, whichever way it was written, so that
/// `1` and `1.0` are one value.
package enum TreeScalar: Sendable {
  case bool(Bool)
  case int(Int64)
  /// Not integral, or beyond 64 bits.
  case double(Double)
  case string(String)

  /// The number `value`; nil when it is not finite.
  package init?(_ value: Double) {
    guard value.isFinite else { return nil }
    self = Int64(exactly: value).map(Self.int) ?? .double(value)
  }

  /// The leaf of a JSON value; nil for null, arrays and objects.
  package init?(_ json: JSONValue) {
    switch json {
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .int(value)
    case .uint(let value): self = .double(Double(value))
    case .double(let value):
      guard let scalar = TreeScalar(value) else { return nil }
      self = scalar
    case .string(let value): self = .string(value)
    case .null, .array, .object: return nil
    }
  }

  /// The value as JSON.
  package var json: JSONValue {
    switch self {
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    }
  }

  /// The number as a double, rounded where it must be; nil for booleans and texts.
  package var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    case .bool, .string: nil
    }
  }
}

extension TreeScalar: Hashable, Comparable {
  package static func == (left: TreeScalar, right: TreeScalar) -> Bool {
    switch (left, right) {
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.bool, _), (.int, _), (.double, _), (.string, _): false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): value.hashBytes(into: &hasher)
    }
  }

  /// false, true, numbers by value, texts by UTF-16 code units.
  package static func < (left: TreeScalar, right: TreeScalar) -> Bool { left.compare(right) < 0 }

  func compare(_ other: TreeScalar) -> Int {
    switch (self, other) {
    case (.bool(let a), .bool(let b)): (a ? 1 : 0) - (b ? 1 : 0)
    case (.int(let a), .int(let b)): a == b ? 0 : a < b ? -1 : 1
    case (.double(let a), .double(let b)): a == b ? 0 : a < b ? -1 : 1
    case (.int(let a), .double(let b)): Self.compare(a, b)
    case (.double(let a), .int(let b)): -Self.compare(b, a)
    case (.string(let a), .string(let b)): TextOrder.compare(a, b)
    case (.bool, _), (.int, _), (.double, _), (.string, _): rank - other.rank
    }
  }

  private var rank: Int {
    switch self {
    case .bool: 0
    case .int, .double: 1
    case .string: 2
    }
  }

  /// Exact, also where the integer is not a double.
  private static func compare(_ integer: Int64, _ double: Double) -> Int {
    if double >= 0x1p63 { return -1 }
    if double < -0x1p63 { return 1 }
    let whole = double.rounded(.towardZero)
    let rounded = Int64(whole)
    if integer != rounded { return integer < rounded ? -1 : 1 }
    return double > whole ? -1 : double < whole ? 1 : 0
  }
}
