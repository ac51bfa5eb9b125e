internal import CMartletSQLite

/// The columns of the row that a statement stands on, taken over by one call for each column.
///
/// SQLite checks the statement and the column anew in every call that reads one, and its length is a call of its own.
/// Texts are not copied: what is here is valid until the statement's next step. Confined to the statement's thread.
@safe
package final class RowCells {
  /// A column as it is stored.
  @safe
  package enum Cell {
    case null
    case integer(Int64)
    case real(Double)
    /// UTF-8; SQLite's bytes.
    case text(UnsafeBufferPointer<UInt8>)
    /// Bytes, which are read from the statement.
    case blob
  }

  /// As what a column is read, which SQLite converts it to where it holds something else. Null stays null.
  package enum Kind: Sendable {
    case text, integer, real
    /// As it is stored.
    case any
  }

  /// How many columns there are.
  package var count: Int { kinds.count }
  fileprivate let kinds: [Kind]
  /// The columns. Valid as long as this object is: reading one this way counts no references.
  package let cells: UnsafeMutablePointer<Cell>

  /// Room for rows of these columns.
  package init(_ kinds: [Kind]) {
    self.kinds = kinds
    unsafe cells = .allocate(capacity: max(1, kinds.count))
    unsafe cells.initialize(repeating: .null, count: max(1, kinds.count))
  }

  deinit {
    // A cell owns nothing.
    unsafe cells.deallocate()
  }
}

extension RowCells.Cell {
  /// Whether the column is null.
  @inlinable package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The column's text, copied; nil for a column that is not text.
  @inlinable package var text: String? {
    guard case .text(let bytes) = self else { return nil }
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// The column's whole number; nil for a column that is not one.
  @inlinable package var integer: Int64? {
    if case .integer(let number) = self { number } else { nil }
  }

  /// The column's number; nil for a column that is not a floating point number.
  @inlinable package var real: Double? {
    if case .real(let number) = self { number } else { nil }
  }
}

extension Statement {
  /// Takes over the columns of the row that it stands on, from `first` on. The row has as many.
  package func load(_ cells: RowCells, from first: Int) {
    let columns = unsafe cells.cells
    for (column, kind) in cells.kinds.enumerated() {
      // Not protected from other threads, and need not be: a connection is its one thread's. Reading one column does
      // not move the bytes of another.
      let value = unsafe sqlite3_column_value(pointer, Int32(truncatingIfNeeded: first + column))
      let cell: RowCells.Cell
      switch kind {
      case .text: cell = unsafe Self.text(value)
      case .integer:
        let number = unsafe sqlite3_value_int64(value)
        cell = unsafe number == 0 && sqlite3_value_type(value) == SQLITE_NULL ? .null : .integer(number)
      case .real:
        let number = unsafe sqlite3_value_double(value)
        cell = unsafe number == 0 && sqlite3_value_type(value) == SQLITE_NULL ? .null : .real(number)
      case .any:
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: cell = .integer(unsafe sqlite3_value_int64(value))
        case SQLITE_FLOAT: cell = .real(unsafe sqlite3_value_double(value))
        case SQLITE_TEXT: cell = unsafe Self.text(value)
        case SQLITE_BLOB: cell = .blob
        default: cell = .null
        }
      }
      unsafe columns[column] = cell
    }
  }

  private static func text(_ value: OpaquePointer?) -> RowCells.Cell {
    // Nil for null alone.
    guard let bytes = unsafe sqlite3_value_text(value) else { return .null }
    return unsafe .text(UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))))
  }
}
