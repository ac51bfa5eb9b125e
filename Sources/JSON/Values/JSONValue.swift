/// Any JSON value, with 64-bit integers exact and text compared by bytes.
///
/// ```swift
/// let variables: JSONValue = ["origin": "JFK", "limit": 20]
/// let origin = variables["origin"]?.string
/// ```
///
/// Equality is by representation: `.int(1)` and `.double(1)` differ, and so do composed and decomposed forms of the
/// same text, because other systems distinguish them.
public enum JSONValue: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without fraction or exponent that fits 64 signed bits.
  case int(Int64)
  /// A number without fraction or exponent above `Int64.max` that fits 64 unsigned bits.
  case uint(UInt64)
  /// Any other number; always finite.
  case double(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Members in their order.
  case object(JSONObject)
}

extension JSONValue: Hashable {
  /// Compares by representation; text by its UTF-8 bytes.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.uint(let a), .uint(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.null, _), (.bool, _), (.int, _), (.uint, _), (.double, _), (.string, _), (.array, _), (.object, _): false
    }
  }

  /// Feeds the hasher in agreement with `==`.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .uint(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): value.hashBytes(into: &hasher)
    case .array(let values): hasher.combine(values)
    case .object(let object): hasher.combine(object)
    }
  }
}

extension String {
  /// Whether both texts have the same UTF-8 bytes; `==` also equates composed and decomposed forms.
  package func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    // The storage is only read inside the closures; going through `UTF8View` costs several times as much for each byte.
    let answer = unsafe utf8.withContiguousStorageIfAvailable { left in
      unsafe other.utf8.withContiguousStorageIfAvailable { right in unsafe left.elementsEqual(right) }
    }
    return (answer ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  package func hashBytes(into hasher: inout Hasher) {
    // A text that is not contiguous is made so first: equal bytes have to be fed in equal pieces.
    var text = self
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}
