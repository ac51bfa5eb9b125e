import CMartletSQLite
import Foundation
import MartletDataStore

/// A record of the benchmark of decoding.
struct BenchDocument: StoredModel {
  var id: String
  var title: String
  var number: Int
  var rating: Double
  var isOpen: Bool
  var text: String
  var note: String?
  enum CodingKeys: String, ModelKey { case id, title, number, rating, isOpen, text, note }
}

/// As `martlet generate` writes it.
extension BenchDocument: RowDecodable {
  init(from row: inout ModelRow) throws {
    id = try row.next()
    title = try row.next()
    number = try row.next()
    rating = try row.next()
    isOpen = try row.next()
    text = try row.next()
    note = try row.nextIfPresent()
  }
}

/// A query that makes a struct of each row, against a loop over SQLite's C interface that runs the same statement on
/// the same file and keeps the columns in C structs of its own, texts copied.
enum DecodeWorkload {
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
  }

  private static let rounds = 9

  static func run(file: String, rows: Int) async throws {
    let store = try DataStore(models: [BenchDocument.self], storage: .file(file))
    for first in stride(from: 0, to: rows, by: 1_000) {
      try await store.transaction { transaction in
        for number in first..<min(first + 1_000, rows) { try transaction.save(document(number)) }
      }
    }
    var ours: [Double] = []
    var peer: [Double] = []
    for _ in 0..<rounds {
      let start = CPUTime.now()
      let found = try await store.query(BenchDocument.self)
      ours.append(Double((CPUTime.now() - start).processor) / Double(rows) / 1_000)
      let (cost, sum) = try read(file, rows)
      peer.append(Double(cost.processor) / Double(rows) / 1_000)
      guard found.count == rows, found.reduce(0, { $0 + $1.number + ($1.note?.utf8.count ?? 0) }) == sum else {
        throw Failure(description: "the two have read different rows")
      }
    }
    var figure = BenchFigure("decode")
    figure.add("rows", rows)
    figure.add("ours_us", median(ours))
    figure.add("peer_us", median(peer))
    figure.add("ours_to_peer", median(zip(ours, peer).map { $0 / $1 }))
    figure.print()
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func document(_ number: Int) -> BenchDocument {
    BenchDocument(
      id: "document-\(number)", title: "number \(number) of them", number: number, rating: Double(number) / 7,
      isOpen: number.isMultiple(of: 2), text: "some text for the size of it, and a little more of it",
      note: number.isMultiple(of: 3) ? nil : "a note")
  }

  /// The loop in C: what it cost, and a sum over what it has read. Its connection is open before, as the store's is.
  private static func read(_ file: String, _ rows: Int) throws -> (CPUTime, Int) {
    var connection: OpaquePointer?
    var statement: OpaquePointer?
    let columns = ["id", "title", "number", "rating", "isOpen", "text", "note"].map { "\"\($0)\"" }
    let sql = "SELECT \(columns.joined(separator: ", ")) FROM \"record_BenchDocument\" WHERE 1 ORDER BY \"id\""
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
    let start = CPUTime.now()
    let found = UnsafeMutablePointer<Row>.allocate(capacity: rows)
    var count = 0
    while unsafe sqlite3_step(statement) == SQLITE_ROW, count < rows {
      unsafe found[count] = unsafe Row(
        id: text(statement, 0), title: text(statement, 1), number: sqlite3_column_int64(statement, 2),
        rating: sqlite3_column_double(statement, 3), isOpen: sqlite3_column_int64(statement, 4) != 0,
        text: text(statement, 5), note: text(statement, 6))
      count += 1
    }
    unsafe sqlite3_reset(statement)
    let cost = CPUTime.now() - start
    var sum = 0
    for index in 0..<count {
      let row = unsafe found[index]
      sum += Int(row.number)
      if let note = unsafe row.note { sum += unsafe strlen(UnsafeRawPointer(note).assumingMemoryBound(to: CChar.self)) }
      unsafe free(row.id)
      unsafe free(row.title)
      unsafe free(row.text)
      unsafe free(row.note)
    }
    unsafe found.deallocate()
    return (cost, sum)
  }

  /// A copy of a column's text with its ending zero; nil for null.
  private static func text(_ statement: OpaquePointer?, _ column: Int32) -> UnsafeMutablePointer<UInt8>? {
    guard let bytes = unsafe sqlite3_column_text(statement, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(statement, column)) + 1
    // SQLite ends texts with a zero; the bytes are valid until the next step.
    guard let copy = unsafe malloc(count) else { return nil }
    unsafe memcpy(copy, bytes, count)
    return unsafe copy.assumingMemoryBound(to: UInt8.self)
  }
}
