internal import CMartletSQLite

/// A compiled statement: bind, step, read columns.
///
/// Parameters count from 1 and columns from 0, as in SQLite. A statement keeps its bindings until bound anew, or until
/// `Database.releaseLargeValues`; rows are valid until the next step. Reading a column outside the row gives null, zero
/// or nothing.
@safe
package final class Statement {
  package let sql: String
  private let connection: Connection
  private(set) var pointer: OpaquePointer?
  private var isRunning = false
  private var rows = 0
  /// Rows of the last run that came to its end; zero before. What the next run's rows become needs about as much room.
  package private(set) var lastCount = 0
  /// Whether SQLite keeps its own copy of a value above `largeValue` for it.
  private var holdsLargeValue = false

  /// Bytes of a bound value from which its copy is let go after the transaction: a few hundred statements with smaller
  /// ones take some megabytes at most.
  static let largeValue = 8_192

  init(compiling sql: String, on connection: Connection) throws(SQLiteError) {
    self.sql = sql
    self.connection = connection
    var compiled: OpaquePointer?
    var result = SQLITE_OK
    var text = sql
    // The text is used during the call only; SQLite keeps its own copy.
    text.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        unsafe result = sqlite3_prepare_v3(
          connection.handle, characters.baseAddress, Int32(clamping: characters.count),
          UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
      }
    }
    if result != SQLITE_OK { throw connection.error(result, statement: sql) }
    unsafe pointer = compiled
  }

  deinit {
    unsafe sqlite3_finalize(pointer)
  }

  // MARK: Running

  /// Advances to the next row; false when there is none, which also resets the statement.
  package func step() throws(SQLiteError) -> Bool {
    if !isRunning {
      isRunning = true
      rows = 0
      connection.startedStatements += 1
    }
    let result = unsafe sqlite3_step(pointer)
    if result == SQLITE_ROW {
      connection.readRows += 1
      rows += 1
      return true
    }
    if result == SQLITE_DONE {
      lastCount = rows
      reset()
      return false
    }
    let error = connection.error(result, statement: sql)
    reset()
    throw error
  }

  /// Runs the statement to its end, dropping rows.
  package func run() throws(SQLiteError) {
    while try step() {}
  }

  /// Makes the statement ready for another run. Bindings stay.
  package func reset() {
    if isRunning {
      unsafe sqlite3_reset(pointer)
      isRunning = false
    }
  }

  // MARK: Binding

  /// Lets go of the values that are bound, when one of them is large. Not between `step`s.
  func releaseLargeValues() {
    guard holdsLargeValue, !isRunning else { return }
    unsafe sqlite3_clear_bindings(pointer)
    holdsLargeValue = false
  }

  private func noteBytes(_ count: Int) {
    guard count > Self.largeValue, !holdsLargeValue else { return }
    holdsLargeValue = true
    connection.largeValues.append(Connection.LargeValue(statement: self))
  }

  package func bind(_ index: Int, null: Void = ()) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_null(pointer, Int32(truncatingIfNeeded: index)))
  }

  package func bind(_ index: Int, _ value: Int64) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(pointer, Int32(truncatingIfNeeded: index), value))
  }

  package func bind(_ index: Int, _ value: Double) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_double(pointer, Int32(truncatingIfNeeded: index), value))
  }

  /// Binds text, NUL characters included.
  package func bind(_ index: Int, text: String) throws(SQLiteError) {
    var text = text
    var result = SQLITE_OK
    // SQLite copies the bytes before the call returns.
    text.withUTF8 { bytes in
      unsafe result = martlet_sqlite_bind_text(
        pointer, Int32(truncatingIfNeeded: index), bytes.baseAddress, Int32(clamping: bytes.count))
      noteBytes(bytes.count)
    }
    try check(result)
  }

  /// Binds UTF-8 as text.
  package func bind(_ index: Int, utf8 bytes: [UInt8]) throws(SQLiteError) {
    var result = SQLITE_OK
    // SQLite copies the bytes before the call returns.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe result = martlet_sqlite_bind_text(
        pointer, Int32(truncatingIfNeeded: index), bytes.baseAddress, Int32(clamping: bytes.count))
      noteBytes(bytes.count)
    }
    try check(result)
  }

  package func bind(_ index: Int, blob bytes: [UInt8]) throws(SQLiteError) {
    var result = SQLITE_OK
    // SQLite copies the bytes before the call returns.
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe result = martlet_sqlite_bind_blob(
        pointer, Int32(truncatingIfNeeded: index), bytes.baseAddress, Int32(clamping: bytes.count))
      noteBytes(bytes.count)
    }
    try check(result)
  }

  // MARK: Columns

  /// The five types SQLite stores.
  package enum ColumnType: Sendable { case null, integer, real, text, blob }

  package func type(_ column: Int) -> ColumnType {
    switch unsafe sqlite3_column_type(pointer, Int32(truncatingIfNeeded: column)) {
    case SQLITE_INTEGER: .integer
    case SQLITE_FLOAT: .real
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .blob
    default: .null
    }
  }

  /// Columns of each row.
  package var columnCount: Int { Int(unsafe sqlite3_column_count(pointer)) }

  package func isNull(_ column: Int) -> Bool { type(column) == .null }

  package func int64(_ column: Int) -> Int64 {
    unsafe sqlite3_column_int64(pointer, Int32(truncatingIfNeeded: column))
  }

  package func double(_ column: Int) -> Double {
    unsafe sqlite3_column_double(pointer, Int32(truncatingIfNeeded: column))
  }

  /// The column as text; ill-formed UTF-8, which this package never writes, is repaired.
  package func text(_ column: Int) -> String { textIfAny(column) ?? "" }

  /// The column as text; nil for null.
  package func textIfAny(_ column: Int) -> String? {
    let column = Int32(truncatingIfNeeded: column)
    guard let bytes = unsafe sqlite3_column_text(pointer, column) else { return nil }
    // The bytes are valid until the next step or reset; they are copied here.
    let count = Int(unsafe sqlite3_column_bytes(pointer, column))
    return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The column's bytes, whether text or blob.
  package func bytes(_ column: Int) -> [UInt8] {
    let column = Int32(truncatingIfNeeded: column)
    guard let bytes = unsafe sqlite3_column_blob(pointer, column) else { return [] }
    // The bytes are valid until the next step or reset; they are copied here.
    let count = Int(unsafe sqlite3_column_bytes(pointer, column))
    return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  private func check(_ result: Int32) throws(SQLiteError) {
    if result != SQLITE_OK { throw connection.error(result, statement: sql) }
  }
}
