internal import MartletJSON
internal import MartletModels

/// The order in which SQLite sorts a column's values, for rows that are sorted here: null first, numbers by value, text
/// by its UTF-8 bytes.
enum StoredOrder {
  /// Less than zero, zero or more than zero.
  static func compare(_ left: JSONValue, _ right: JSONValue, _ storage: ColumnStorage) -> Int {
    switch (left.isNull, right.isNull) {
    case (true, true): return 0
    case (true, false): return -1
    case (false, true): return 1
    case (false, false): break
    }
    if storage == .json { return compare(left.serialized(), right.serialized()) }
    switch (left, right) {
    case (.string(let left), .string(let right)): return compare(Array(left.utf8), Array(right.utf8))
    case (.bool(let left), .bool(let right)): return (left ? 1 : 0) - (right ? 1 : 0)
    default: return ValueOrder.compare(left, right) ?? 0
    }
  }

  /// Compares two rows' values in the order's fields.
  static func compare(_ left: [JSONValue], _ right: [JSONValue], _ order: [SortOrder], _ shape: RecordShape) -> Int {
    for (index, term) in order.enumerated() where left.indices.contains(index) && right.indices.contains(index) {
      let result = compare(left[index], right[index], shape.columns[term.field].storage)
      if result != 0 { return term.isAscending ? result : -result }
    }
    return 0
  }

  private static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    if left == right { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }
}
