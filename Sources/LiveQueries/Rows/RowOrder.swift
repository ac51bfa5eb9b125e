package import MartletJSON
package import MartletModels

/// A total order of a model's records: some sort keys, then the primary key.
///
/// Values are in the store's order: null first, then numbers by value, text by its UTF-8 bytes, lists and embedded
/// values by the bytes of their JSON text. Dates and times that are sorted by have the order of the moments they mean.
/// `false` is before `true`. In a field that is stored as JSON everything but null and numbers is ordered by the bytes
/// of its JSON text, as the column has it.
package struct RowOrder: Sendable, Hashable {
  /// Sort keys, the most important first. They end with the primary key.
  package let terms: [SortOrder]

  /// The order by `sort`, and by the fields of the primary key where `sort` leaves records equal.
  ///
  /// - Parameters:
  ///   - jsonFields: the fields that are stored as JSON.
  ///   - momentFields: the fields that hold dates or times.
  package init(
    _ sort: [SortOrder], primaryKey: [Int], jsonFields: Set<Int> = [], momentFields: Set<Int> = []
  ) {
    var seen: Set<Int> = []
    var terms = sort.filter { seen.insert($0.field).inserted }
    for index in terms.indices where momentFields.contains(terms[index].field) { terms[index].isMoment = true }
    // Different keys may mean one moment.
    for field in primaryKey where seen.insert(field).inserted || momentFields.contains(field) {
      terms.append(SortOrder(field: field))
    }
    for index in terms.indices where jsonFields.contains(terms[index].field) { terms[index].isJSON = true }
    self.terms = terms
  }

  /// Negative when `left` is before `right`, positive when after, zero for records of one key.
  package func compare(_ left: Record, _ right: Record) -> Int {
    for term in terms {
      let result = wholeNumbers(left, right, term.field) ?? Self.compare(left, right, term)
      if result != 0 { return term.isAscending ? result : -result }
    }
    return 0
  }

  /// The order of two whole numbers, without copying the values; nil for other values.
  private func wholeNumbers(_ left: Record, _ right: Record, _ field: Int) -> Int? {
    guard field < left.values.count, field < right.values.count, case .int(let a) = left.values[field],
      case .int(let b) = right.values[field]
    else { return nil }
    return a < b ? -1 : a > b ? 1 : 0
  }

  private static func compare(_ left: Record, _ right: Record, _ term: SortOrder) -> Int {
    let (left, right) = (left[term.field], right[term.field])
    if term.isMoment, case .string = left, case .string = right {
      return ValueOrder.compareMoments(left, right) ?? 0
    }
    return term.isJSON ? compareJSON(left, right) : compare(left, right)
  }

  /// Compares two values of one field.
  package static func compare(_ left: JSONValue, _ right: JSONValue) -> Int {
    if let result = ValueOrder.compare(left, right) { return result }
    if case .bool(let left) = left, case .bool(let right) = right { return (left ? 1 : 0) - (right ? 1 : 0) }
    let (first, second) = (rank(left), rank(right))
    if first != second || first == 0 { return first - second }
    return compareTexts(left, right)
  }

  /// Compares two values of a field that is stored as JSON.
  private static func compareJSON(_ left: JSONValue, _ right: JSONValue) -> Int {
    switch (left, right) {
    // SQLite has no whole numbers of this size.
    case (.uint(let number), _): return compareJSON(.double(Double(number)), right)
    case (_, .uint(let number)): return compareJSON(left, .double(Double(number)))
    case (.int, .int), (.int, .double), (.double, .int), (.double, .double): return compare(left, right)
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.int, _), (.double, _): return -1
    case (_, .int), (_, .double): return 1
    case (.bool, _), (.string, _), (.array, _), (.object, _): return compareTexts(left, right)
    }
  }

  private static func compareTexts(_ left: JSONValue, _ right: JSONValue) -> Int {
    let (a, b) = (left.serialized(), right.serialized())
    return a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
  }

  /// Kinds of value in their order. A field has values of one kind; others do not meet.
  private static func rank(_ value: JSONValue) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .int, .uint, .double: 2
    case .string: 3
    case .array, .object: 4
    }
  }
}
