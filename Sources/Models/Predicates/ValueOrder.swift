package import MartletJSON
internal import MartletVocabulary

/// Equality and order of field values, the same as in the store.
package enum ValueOrder {
  /// Whether two values are equal: numbers by value, text by bytes, the rest by structure.
  package static func areEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.int, .double), (.double, .int), (.uint, .double), (.double, .uint), (.double, .double):
      compare(left, right) == 0
    case (_, _): left == right
    }
  }

  /// Negative, zero or positive for two values of one ordered kind; nil when there is no order between them, as with
  /// a double that is not a number.
  package static func compare(_ left: JSONValue, _ right: JSONValue) -> Int? {
    switch (left, right) {
    case (.string(let a), .string(let b)): compareBytes(a, b)
    case (.int(let a), .int(let b)): a < b ? -1 : a > b ? 1 : 0
    case (.uint(let a), .uint(let b)): a < b ? -1 : a > b ? 1 : 0
    case (.double(let a), .double(let b)): a < b ? -1 : a > b ? 1 : a == b ? 0 : nil
    case (.int, .uint): -1
    case (.uint, .int): 1
    case (.int(let a), .double(let b)): compare(a, b)
    case (.double(let a), .int(let b)): compare(b, a).map(-)
    case (.uint(let a), .double(let b)): compare(a, b)
    case (.double(let a), .uint(let b)): compare(b, a).map(-)
    case (.null, _), (.bool, _), (.int, _), (.uint, _), (.double, _), (.string, _), (.array, _), (.object, _): nil
    }
  }

  /// The order of two values of a field of dates or times, which are text: by the moments that they mean.
  package static func compareMoments(_ left: JSONValue, _ right: JSONValue) -> Int? {
    if case .string(let left) = left, case .string(let right) = right { return MomentText.compare(left, right) }
    return compare(left, right)
  }

  /// Orders text by UTF-8 bytes, which is also the order of its Unicode scalars.
  package static func compareBytes(_ left: String, _ right: String) -> Int {
    var a = left.utf8.makeIterator()
    var b = right.utf8.makeIterator()
    while true {
      switch (a.next(), b.next()) {
      case (nil, nil): return 0
      case (nil, _?): return -1
      case (_?, nil): return 1
      case (let x?, let y?): if x != y { return x < y ? -1 : 1 }
      }
    }
  }

  /// Exact: an integer above 2^53 is not rounded before it is compared.
  private static func compare<Whole: FixedWidthInteger>(_ whole: Whole, _ real: Double) -> Int? {
    if real.isNaN { return nil }
    if real >= Double(sign: .plus, exponent: Whole.isSigned ? 63 : 64, significand: 1) { return -1 }
    if real < (Whole.isSigned ? -0x1p63 : 0) { return 1 }
    let floor = real.rounded(.down)
    guard let below = Whole(exactly: floor) else { return whole < 0 ? -1 : 1 }
    if whole != below { return whole < below ? -1 : 1 }
    return real > floor ? -1 : 0
  }

  /// Whether text has `part` somewhere, or a list has it as an element.
  package static func contains(_ value: JSONValue, _ part: JSONValue) -> Bool {
    switch value {
    case .array(let elements): return elements.contains { areEqual($0, part) }
    case .string(let text):
      guard let part = part.string else { return false }
      return hasPart(Array(text.utf8), Array(part.utf8))
    case .null, .bool, .int, .uint, .double, .object: return false
    }
  }

  private static func hasPart(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    guard text.count >= part.count else { return false }
    for start in 0...(text.count - part.count) where text[start] == first {
      if text[start..<start + part.count].elementsEqual(part) { return true }
    }
    return false
  }

  /// Bytes of text, elements of a list, members of an embedded value; nil for the rest.
  package static func size(of value: JSONValue) -> Int64? {
    switch value {
    case .string(let text): Int64(text.utf8.count)
    case .array(let elements): Int64(elements.count)
    case .object(let members): Int64(members.count)
    case .null, .bool, .int, .uint, .double: nil
    }
  }
}
