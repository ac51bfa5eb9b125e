package import MartletJSON
package import MartletJSONTree

/// The value of a part of an expression.
package enum RuleValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  /// An object or a list among the claims.
  case claims(JSONValue)
  /// The value of a node with children: it equals nothing, itself included.
  case node
  case snapshot(RuleSnapshot)
  case query
  case list([String])
  case pattern

  init(_ scalar: TreeScalar) {
    self =
      switch scalar {
      case .bool(let value): .bool(value)
      case .int(let value): .int(value)
      case .double(let value): .double(value)
      case .string(let value): .string(value)
      }
  }

  init(_ json: JSONValue) {
    self =
      switch json {
      case .null: .null
      case .array, .object: .claims(json)
      case .bool, .int, .uint, .double, .string: TreeScalar(json).map { RuleValue($0) } ?? .null
      }
  }

  /// A double that is integral counts as the integer.
  init(number: Double) {
    self = Int64(exactly: number).map { .int($0) } ?? .double(number)
  }

  var type: RuleType {
    switch self {
    case .null: .null
    case .bool: .boolean
    case .int, .double: .number
    case .string: .string
    case .claims, .node: .any
    case .snapshot: .snapshot
    case .query: .query
    case .list: .list
    case .pattern: .pattern
    }
  }

  /// With its article, for errors.
  var kind: String {
    switch self {
    case .claims, .node: "an object"
    case .null, .bool, .int, .double, .string, .snapshot, .query, .list, .pattern: type.name
    }
  }

  var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .double(let value): value
    case .null, .bool, .string, .claims, .node, .snapshot, .query, .list, .pattern: nil
    }
  }

  /// The value as an explanation shows it, shortened.
  package var summary: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int, .double: NumberText.text(of: self)
    case .string(let text):
      JSONValue.string(text.utf8.count > 100 ? String(text.unicodeScalars.prefix(97)) + "..." : text).description
    case .claims, .node: "{…}"
    case .snapshot(let snapshot): "\(snapshot.isNew ? "newData" : "data") at \(snapshot.path)"
    case .query: "the query"
    case .list(let elements): "[" + elements.map { JSONValue.string($0).description }.joined(separator: ", ") + "]"
    case .pattern: "a regular expression"
    }
  }
}

/// A node of the tree before or after the write.
package struct RuleSnapshot: Hashable, Sendable {
  package var path: TreePath
  package var isNew: Bool
}

/// Numbers as JavaScript writes them.
enum NumberText {
  static func text(of value: RuleValue) -> String {
    switch value {
    case .int(let value): return "\(value)"
    case .double(let value): return text(value)
    case .null, .bool, .string, .claims, .node, .snapshot, .query, .list, .pattern: return ""
    }
  }

  private static func text(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
    if value == 0 { return "0" }
    // Swift gives the shortest digits that read back as the value, as JavaScript does; the layout differs.
    let parts = "\(value.magnitude)".split(separator: "e")
    let mantissa = parts[0].split(separator: ".")
    var digits = mantissa.joined()
    var point = mantissa[0].utf8.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    while digits.utf8.first == 48, digits.utf8.count > 1 {
      digits.removeFirst()
      point -= 1
    }
    while digits.utf8.last == 48, digits.utf8.count > 1 { digits.removeLast() }
    let sign = value < 0 ? "-" : ""
    let count = digits.utf8.count
    if point > 21 || point < -5 {
      let fraction = count > 1 ? "." + digits.dropFirst() : ""
      return sign + digits.prefix(1) + fraction + "e" + (point > 0 ? "+" : "-") + "\((point - 1).magnitude)"
    }
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    if point >= count { return sign + digits + String(repeating: "0", count: point - count) }
    return sign + digits.prefix(point) + "." + digits.dropFirst(point)
  }
}
