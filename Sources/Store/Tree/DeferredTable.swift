internal import MartletSQLite

/// A write of the tree that waits for the end of its owner's session.
///
/// The store keeps it and its order; what its bytes mean is known where it is run.
package struct DeferredWrite: Sendable, Hashable {
  /// Names the client that left it.
  package var owner: String
  /// Its place among the owner's writes, from 1.
  package var number: Int64
  package var body: [UInt8]

  package init(owner: String, number: Int64, body: [UInt8]) {
    self.owner = owner
    self.number = number
    self.body = body
  }
}

/// What an entry of the log says of deferred writes. No subscriber sees it.
enum DeferredEntry {
  case granted(DeferredWrite)
  /// Some of an owner's writes were cancelled, or all of them (no numbers) were made or cancelled.
  case removed(owner: String, numbers: [Int64])
}

/// The bodies of these entries.
enum DeferredCoder {
  static func write(_ entry: DeferredEntry, into writer: inout EntryWriter) {
    switch entry {
    case .granted(let write):
      writer.text(write.owner)
      writer.unsigned(UInt64(bitPattern: write.number))
      writer.bytes.append(contentsOf: write.body)
    case .removed(let owner, let numbers):
      writer.text(owner)
      writer.count(numbers.count)
      for number in numbers { writer.unsigned(UInt64(bitPattern: number)) }
    }
  }

  static func readGranted(_ reader: inout EntryReader) throws(StoreError) -> DeferredEntry {
    .granted(DeferredWrite(owner: try reader.text(), number: try reader.signedPattern(), body: reader.rest()))
  }

  static func readRemoved(_ reader: inout EntryReader) throws(StoreError) -> DeferredEntry {
    let owner = try reader.text()
    var numbers: [Int64] = []
    for _ in 0..<(try reader.count()) { numbers.append(try reader.signedPattern()) }
    return .removed(owner: owner, numbers: numbers)
  }
}

/// The deferred writes that have been neither made nor cancelled. Confined to the connection's thread.
final class DeferredTable {
  static let tables = """
    CREATE TABLE IF NOT EXISTS martlet_deferred(
      owner TEXT NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(owner, number))
      WITHOUT ROWID, STRICT;
    """

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// The owner's writes, in their order.
  func writes(of owner: String) throws -> [DeferredWrite] {
    let rows = try database.statement("SELECT number, body FROM martlet_deferred WHERE owner = ? ORDER BY number")
    defer { rows.reset() }
    try rows.bind(1, text: owner)
    var writes: [DeferredWrite] = []
    while try rows.step() {
      writes.append(DeferredWrite(owner: owner, number: rows.int64(0), body: rows.bytes(1)))
    }
    return writes
  }

  /// The number of the owner's last write; 0 without one.
  func last(of owner: String) throws -> Int64 {
    let rows = try database.statement("SELECT max(number) FROM martlet_deferred WHERE owner = ?")
    defer { rows.reset() }
    try rows.bind(1, text: owner)
    return try rows.step() ? rows.int64(0) : 0
  }

  /// The names of all clients that have left writes.
  func owners() throws -> [String] {
    let rows = try database.statement("SELECT DISTINCT owner FROM martlet_deferred ORDER BY owner")
    defer { rows.reset() }
    var owners: [String] = []
    while try rows.step() { owners.append(rows.text(0)) }
    return owners
  }

  func fold(_ entry: DeferredEntry) throws {
    switch entry {
    case .granted(let write):
      let insert = try database.statement(
        "INSERT OR REPLACE INTO martlet_deferred(owner, number, body) VALUES(?, ?, ?)")
      try insert.bind(1, text: write.owner)
      try insert.bind(2, write.number)
      try insert.bind(3, blob: write.body)
      try insert.run()
    case .removed(let owner, let numbers) where numbers.isEmpty:
      let delete = try database.statement("DELETE FROM martlet_deferred WHERE owner = ?")
      try delete.bind(1, text: owner)
      try delete.run()
    case .removed(let owner, let numbers):
      let delete = try database.statement("DELETE FROM martlet_deferred WHERE owner = ? AND number = ?")
      for number in numbers {
        try delete.bind(1, text: owner)
        try delete.bind(2, number)
        try delete.run()
      }
    }
  }
}

extension DeferredWrite {
  /// Whether the store in a folder has writes that clients have left for the end of their sessions. For a store that
  /// is not open; true also for one that cannot be read, which opening it then reports.
  package static func areLeft(in folder: String) -> Bool {
    let place = StorePlace.folder(folder)
    guard place.holdsDatabase else { return false }
    do {
      var settings = Database.Options()
      settings.isReadOnly = true
      let database = try Database(path: place.databasePath, on: place.files, options: settings)
      return try database.prepare("SELECT 1 FROM martlet_deferred LIMIT 1").step()
    } catch {
      return true
    }
  }
}

extension ReadSnapshot {
  /// The clients that have left writes for the end of their sessions.
  package func deferredOwners() throws(StoreError) -> [String] {
    try typed { try DeferredTable(database).owners() }
  }

  /// What a client has left, in its order.
  package func deferredWrites(of owner: String) throws(StoreError) -> [DeferredWrite] {
    try typed { try DeferredTable(database).writes(of: owner) }
  }
}
