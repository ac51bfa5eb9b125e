import CMartletSQLite
import Foundation

/// A loop over SQLite's C interface that runs the statement of a query and keeps what it reads in C structs.
struct RowReading {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// What a C program keeps of a row; the texts are freed where the rows are.
  @safe
  private struct Row {
    var id: UnsafeMutablePointer<UInt8>?
    var title: UnsafeMutablePointer<UInt8>?
    var number: Int64
    var rating: Double
    var isOpen: Bool
    var text: UnsafeMutablePointer<UInt8>?
    var note: UnsafeMutablePointer<UInt8>?
    var author: UnsafeMutablePointer<UInt8>?
  }

  /// The model, whose fields are those of a document, and the key of an author for a post.
  let table: String
  let file: String
  let rows: Int

  private var hasAuthor: Bool { table == "BenchPost" }

  private var columns: String {
    let names = ["id", "title", "number", "rating", "isOpen", "text", "note"] + (hasAuthor ? ["authorID"] : [])
    return names.map { "\"\($0)\"" }.joined(separator: ", ")
  }

  /// What reading all rows cost, and a sum over what was read. The connection is open before, as the store's is.
  func run() throws -> (CPUTime, Int) {
    var connection: OpaquePointer?
    var statement: OpaquePointer?
    let sql = "SELECT \(columns) FROM \"record_\(table)\" WHERE 1 ORDER BY \"id\""
    defer {
      unsafe sqlite3_finalize(statement)
      unsafe sqlite3_close_v2(connection)
    }
    guard unsafe sqlite3_open_v2(file, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      unsafe sqlite3_exec(connection, "PRAGMA cache_size=-8192; SELECT count(*) FROM sqlite_schema", nil, nil, nil)
        == SQLITE_OK,
      unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK
    else { throw Failure(description: "\(file): \(unsafe String(cString: sqlite3_errmsg(connection)))") }
    // Once before, so that the pages are in the connection's cache, as they are in the store's.
    while unsafe sqlite3_step(statement) == SQLITE_ROW {}
    unsafe sqlite3_reset(statement)
    let hasAuthor = hasAuthor
    let start = CPUTime.now()
    let found = UnsafeMutablePointer<Row>.allocate(capacity: rows)
    var count = 0
    while unsafe sqlite3_step(statement) == SQLITE_ROW, count < rows {
      unsafe found[count] = unsafe Row(
        id: text(statement, 0), title: text(statement, 1), number: sqlite3_column_int64(statement, 2),
        rating: sqlite3_column_double(statement, 3), isOpen: sqlite3_column_int64(statement, 4) != 0,
        text: text(statement, 5), note: text(statement, 6), author: hasAuthor ? text(statement, 7) : nil)
      count += 1
    }
    unsafe sqlite3_reset(statement)
    let cost = CPUTime.now() - start
    var sum = 0
    for index in 0..<count {
      let row = unsafe found[index]
      sum += unsafe Int(row.number) + length(row.note) + length(row.author)
      unsafe free(row.id)
      unsafe free(row.title)
      unsafe free(row.text)
      unsafe free(row.note)
      unsafe free(row.author)
    }
    unsafe found.deallocate()
    return (cost, sum)
  }

  private func length(_ text: UnsafeMutablePointer<UInt8>?) -> Int {
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(UnsafeRawPointer(text).assumingMemoryBound(to: CChar.self))
  }

  /// A copy of a column's text with its ending zero; nil for null.
  private func text(_ statement: OpaquePointer?, _ column: Int32) -> UnsafeMutablePointer<UInt8>? {
    guard let bytes = unsafe sqlite3_column_text(statement, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(statement, column)) + 1
    // SQLite ends texts with a zero; the bytes are valid until the next step.
    guard let copy = unsafe malloc(count) else { return nil }
    unsafe memcpy(copy, bytes, count)
    return unsafe copy.assumingMemoryBound(to: UInt8.self)
  }
}
