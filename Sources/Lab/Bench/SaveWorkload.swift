import CMartletSQLite
import Foundation
import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletStore

/// Saves of new records into a client's store, against a loop over SQLite's C interface that writes the same tables,
/// indexes and bytes, the outbox included.
enum SaveWorkload {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static func run(folder: String, writes: Int, batch: Int) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let writeOurs = try ours(folder + "/ours.sqlite", batch)
    let writePeers = try peers(folder + "/peer.sqlite", batch)
    var (ours, peer) = (CPUTime(), CPUTime())
    // By turns, since the machine's clock changes while this runs.
    let slice = max(batch, writes / slices / batch * batch)
    for first in stride(from: 0, to: writes, by: slice) {
      let range = first..<min(first + slice, writes)
      ours += try measure { try writeOurs(range) }
      peer += try measure { try writePeers(range) }
    }
    let isSame = try proof(folder + "/ours.sqlite") == proof(folder + "/peer.sqlite")
    var figure = BenchFigure("save")
    figure.add("writes", writes)
    figure.add("batch", batch)
    figure.add("ours_per_second", Double(writes) / (Double(ours.elapsed) / 1e9))
    figure.add("peer_per_second", Double(writes) / (Double(peer.elapsed) / 1e9))
    figure.add("ratio", Double(peer.elapsed) / Double(ours.elapsed))
    figure.add("ours_cpu_us", Double(ours.processor) / Double(writes) / 1_000)
    figure.add("peer_cpu_us", Double(peer.processor) / Double(writes) / 1_000)
    figure.add("cpu_ratio", Double(peer.processor) / Double(ours.processor))
    figure.add("same_content", text: isSame ? "yes" : "no")
    figure.print()
  }

  private static let shape = RecordShape(
    model: 0, name: "Reading", tableName: "Reading",
    columns: [("id", ColumnStorage.text), ("topic", .text), ("number", .integer), ("text", .text)].map {
      RecordColumn(
        name: $0, field: $0, storage: $1, signature: $1.rawValue, isRequired: $0 == "id", defaultValue: .null)
    }, key: [0], indexes: [RecordIndex(name: "byTopic", fields: [1, 2], isUnique: false)], cascades: [])

  private static func record(_ number: Int) -> Record {
    Record(values: [
      .string("r\(number)"), .string("t\(number % 100)"), .int(Int64(number)),
      .string("some text for the size of it, and a little more of it, number \(number)"),
    ])
  }

  /// Parts in which each side writes, before the other one does.
  private static let slices = 10

  private static func measure(_ body: () throws -> Void) rethrows -> CPUTime {
    let start = CPUTime.now()
    try body()
    return CPUTime.now() - start
  }

  private static func ours(_ path: String, _ batch: Int) throws -> (Range<Int>) throws -> Void {
    let writer = try ClientWriter(path: path, shapes: [shape], syncs: true)
    return { range in
      for first in stride(from: range.lowerBound, to: range.upperBound, by: batch) {
        _ = try writer.transaction { transaction in
          for number in first..<min(first + batch, range.upperBound) { try transaction.save(model: 0, record(number)) }
        }
      }
    }
  }

  /// Every row of the tables that both write.
  private static func proof(_ path: String) throws -> [String] {
    let peer = try SQLiteLoop(path)
    return try [
      "SELECT * FROM record_Reading ORDER BY id", "SELECT * FROM martlet_client_outbox ORDER BY number",
      "SELECT * FROM martlet_client ORDER BY name",
    ].flatMap { try peer.rows($0) }
  }

  private static func peers(_ path: String, _ batch: Int) throws -> (Range<Int>) throws -> Void {
    // The same tables: an empty store of ours.
    _ = try ClientWriter(path: path, shapes: [shape], syncs: true)
    let peer = try SQLiteLoop(path)
    let outbox = try peer.prepare("INSERT INTO martlet_client_outbox VALUES(?, 'Reading', ?, ?, NULL, 0, 0)")
    let insert = try peer.prepare("INSERT INTO record_Reading VALUES(?, ?, ?, ?, 0, 1, 0)")
    let next = try peer.prepare("INSERT OR REPLACE INTO martlet_client VALUES('nextNumber', ?)")
    let names = shape.columns.map(\.name)
    return { range in
      for first in stride(from: range.lowerBound, to: range.upperBound, by: batch) {
        try peer.execute("BEGIN IMMEDIATE")
        for number in first..<min(first + batch, range.upperBound) {
          let record = record(number)
          let members = zip(names, record.values).map { (key: $0, value: $1) }
          let content = JSONValue.object(["create": .object(JSONObject(members))]).description
          let id = record[0].string ?? ""
          try peer.run(
            insert, [.text(id), .text(record[1].string ?? ""), .integer(number), .text(record[3].string ?? "")])
          try peer.run(outbox, [.integer(number + 1), .text("[\"\(id)\"]"), .text(content)])
          try peer.run(next, [.text(String(number + 2))])
        }
        try peer.execute("COMMIT")
      }
    }
  }
}

/// A statement of SQLite's C interface.
@safe
private final class Prepared {
  let pointer: OpaquePointer
  init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

  deinit {
    unsafe sqlite3_finalize(pointer)
  }
}

/// SQLite as a C program uses it: the same pragmas as a client's store.
@safe
private final class SQLiteLoop {
  enum Value {
    case text(String)
    case integer(Int)
  }

  private let connection: OpaquePointer
  private var statements: [Prepared] = []

  init(_ path: String) throws {
    var opened: OpaquePointer?
    guard unsafe sqlite3_open(path, &opened) == SQLITE_OK, let opened = unsafe opened else {
      throw SaveWorkload.Failure(description: "\(path) cannot be opened")
    }
    unsafe connection = opened
    // A client's store moves its log into its file after 1,000 pages, which is work and syncs of its own.
    for pragma in [
      "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=1000", "foreign_keys=ON", "temp_store=MEMORY",
      "cache_size=-8192", "cell_size_check=ON",
    ] {
      try execute("PRAGMA \(pragma)")
    }
  }

  deinit {
    // Closes once the statements are finalized.
    unsafe sqlite3_close_v2(connection)
  }

  func execute(_ sql: String) throws {
    guard unsafe sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
      throw SaveWorkload.Failure(description: "\(sql): \(unsafe String(cString: sqlite3_errmsg(connection)))")
    }
  }

  /// The number of a compiled statement.
  func prepare(_ sql: String) throws -> Int {
    var statement: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
      let statement = unsafe statement
    else { throw SaveWorkload.Failure(description: "\(sql): \(unsafe String(cString: sqlite3_errmsg(connection)))") }
    statements.append(unsafe Prepared(statement))
    return statements.count - 1
  }

  func run(_ number: Int, _ values: [Value]) throws {
    let statement = unsafe statements[number].pointer
    for (index, value) in values.enumerated() {
      switch value {
      case .integer(let value): unsafe sqlite3_bind_int64(statement, Int32(index + 1), Int64(value))
      case .text(var text):
        text.withUTF8 { bytes in
          // SQLite copies the bytes before the call returns.
          _ = unsafe martlet_sqlite_bind_text(statement, Int32(index + 1), bytes.baseAddress, Int32(bytes.count))
        }
      }
    }
    let result = unsafe sqlite3_step(statement)
    unsafe sqlite3_reset(statement)
    guard result == SQLITE_DONE else {
      throw SaveWorkload.Failure(description: unsafe String(cString: sqlite3_errmsg(connection)))
    }
  }

  /// The rows of a query as texts.
  func rows(_ sql: String) throws -> [String] {
    let statement = unsafe statements[try prepare(sql)].pointer
    var found: [String] = []
    while unsafe sqlite3_step(statement) == SQLITE_ROW {
      let columns = (0..<(unsafe sqlite3_column_count(statement))).map { column in
        unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) } ?? "NULL"
      }
      found.append(columns.joined(separator: "|"))
    }
    return found
  }
}
