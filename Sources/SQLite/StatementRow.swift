internal import CMartletSQLite

/// The row that a statement stands on, read column by column and without counting references to the statement, which
/// takes as long as reading a field. Valid as long as the statement is held; confined to its thread.
@safe
package struct StatementRow {
  /// SQLite's statement; without one, all columns are null.
  private let pointer: OpaquePointer?

  package init(of statement: Statement) {
    unsafe pointer = statement.pointer
  }

  /// Whether the column is null.
  package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(pointer, column) == SQLITE_NULL }

  // A value is converted as SQLite does when it is of another type; null stays null.

  /// The column as text.
  package func text(_ column: Int32) -> String? {
    // Not protected from other threads, and need not be: a connection is its one thread's. SQLite checks the statement
    // anew in every call that names a column, and its length is a call of its own.
    let value = unsafe sqlite3_column_value(pointer, column)
    // Nil for null alone.
    guard let bytes = unsafe sqlite3_value_text(value) else { return nil }
    return unsafe String(
      decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
  }

  /// The column as a whole number.
  package func integer(_ column: Int32) -> Int64? {
    let number = unsafe sqlite3_column_int64(pointer, column)
    return number == 0 && isNull(column) ? nil : number
  }

  /// The column as a whole number, which is 0 for null.
  package func count(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(pointer, column) }

  /// The column as a number.
  package func real(_ column: Int32) -> Double? {
    let number = unsafe sqlite3_column_double(pointer, column)
    return number == 0 && isNull(column) ? nil : number
  }
}
