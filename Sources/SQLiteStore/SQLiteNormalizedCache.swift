public import Foundation
public import MartletGraphQLStore
package import MartletSQLite

/// Records in a SQLite file, so that a client shows its last data after a restart.
///
/// ```swift
/// let store = GraphQLStore(cache: try SQLiteNormalizedCache(file: path))
/// ```
///
/// One row per record. A write is one transaction; after a crash of the process it is there, after a power cut the last
/// ones may be missing, as befits a copy of what a server has. A row that cannot be read counts as missing.
public final class SQLiteNormalizedCache: NormalizedCache {
  private let database: Database
  private var coding = RecordCoding()
  /// Records, and bytes of their rows.
  public private(set) var usage = CacheUsage(records: 0, bytes: 0)
  /// The place of the next use in the order of use.
  private var nextUse: Int64 = 0
  /// Records that were read since the last write and were not among the recently used.
  private var touched: [CacheKey: Int64] = [:]
  private static let touchedLimit = 10_000
  /// Pages of the write-ahead log at which it is moved into the file: 4 MB.
  private static let checkpointPages = 1_000

  /// What is here is here after a restart.
  public let outlivesProcess = true

  /// Opens a file, or makes it.
  /// - Throws: `invalidFile` when it cannot be opened, is not a database, or belongs to another program.
  public convenience init(file path: String) throws(GraphQLStoreError) {
    try self.init(path: path)
  }

  /// Opens a file, or makes it.
  /// - Throws: `invalidFile` when it cannot be opened, is not a database, or belongs to another program.
  public convenience init(fileURL: URL) throws(GraphQLStoreError) {
    try self.init(path: fileURL.path)
  }

  /// As above; `files` is an imaginary disk for tests.
  package init(path: String, on files: MemoryFiles? = nil) throws(GraphQLStoreError) {
    do {
      database = try Database(path: path, on: files)
      try Self.prepare(database, path)
      let sums = try database.statement("SELECT count(*), coalesce(sum(size), 0), coalesce(max(used), 0) FROM records")
      if try sums.step() {
        usage = CacheUsage(records: Int(sums.int64(0)), bytes: Int(sums.int64(1)))
        nextUse = sums.int64(2) + 1
      }
      sums.reset()
    } catch let error as SQLiteError {
      throw GraphQLStoreError(.invalidFile, "\(path) cannot be used as a store", underlying: error)
    } catch let error as GraphQLStoreError {
      throw error
    } catch {
      throw GraphQLStoreError(.invalidFile, "\(path) cannot be used as a store", underlying: error)
    }
  }

  /// Marks the file as ours ("MCch"), so that another program's database is not taken for a cache.
  private static let applicationID: Int64 = 0x4D43_6368
  /// The layout of the rows. A file of another layout is emptied: it is a copy of what the server has.
  private static let layout: Int64 = 1

  private static func prepare(_ database: Database, _ path: String) throws {
    let tables = try number("SELECT count(*) FROM sqlite_schema", database)
    let isOurs = try number("PRAGMA application_id", database) == applicationID
    if tables > 0, !isOurs {
      throw GraphQLStoreError(.invalidFile, "\(path) is a database, but no store of this library")
    }
    // A cache may lose its last writes in a power cut, but not its shape.
    try database.execute("PRAGMA synchronous=NORMAL")
    if tables > 0, try number("PRAGMA user_version", database) == layout { return }
    try database.execute("BEGIN IMMEDIATE")
    try database.execute("DROP TABLE IF EXISTS records")
    try database.execute(
      """
      CREATE TABLE records (
        key TEXT PRIMARY KEY, fields BLOB NOT NULL, written INTEGER NOT NULL, used INTEGER NOT NULL,
        size INTEGER NOT NULL
      ) WITHOUT ROWID
      """)
    try database.execute("CREATE INDEX records_used ON records (used)")
    try database.execute("CREATE INDEX records_written ON records (written)")
    try database.execute("PRAGMA application_id=\(applicationID)")
    try database.execute("PRAGMA user_version=\(layout)")
    try database.execute("COMMIT")
  }

  private static func number(_ sql: String, _ database: Database) throws(SQLiteError) -> Int64 {
    let statement = try database.prepare(sql)
    return try statement.step() ? statement.int64(0) : 0
  }

  // MARK: Reading

  /// The record. That it was used is noted with the next write.
  public func record(for key: CacheKey) throws -> CacheEntry? {
    guard let row = try row(key) else { return nil }
    // Records among the half last used stay where they are, so that reading seldom means writing.
    if row.used < nextUse - Int64(usage.records / 2) {
      if touched.count >= Self.touchedLimit { touched.removeAll() }
      touched[key] = nextUse
      nextUse += 1
    }
    return row.entry
  }

  private func row(_ key: CacheKey) throws -> (entry: CacheEntry, used: Int64, size: Int)? {
    let select = try database.statement("SELECT fields, written, used, size FROM records WHERE key = ?1")
    try select.bind(1, text: key.text)
    guard try select.step() else { return nil }
    defer { select.reset() }
    let entry = CacheEntry(
      coding.decode(select.bytes(0)) ?? CacheRecord(), written: .milliseconds(select.int64(1)))
    return (entry, select.int64(2), Int(select.int64(3)))
  }

  /// All keys.
  public func keys() throws -> [CacheKey] {
    let select = try database.statement("SELECT key FROM records")
    var keys: [CacheKey] = []
    while try select.step() { keys.append(CacheKey(select.text(0))) }
    return keys
  }

  // MARK: Writing

  /// Applies all changes in one transaction.
  public func apply(_ changes: [CacheChange], at time: Duration) throws -> CacheDifference {
    let milliseconds = Self.milliseconds(time)
    return try transaction {
      var difference = CacheDifference()
      try noteUses()
      for change in changes {
        switch change {
        case .merge(let key, let record):
          let known = try row(key)
          var merged = known?.entry.record ?? CacheRecord()
          let changed = merged.merge(record)
          if known != nil, changed.isEmpty {
            try refresh(key, milliseconds)
          } else {
            try put(key, merged, milliseconds, replacing: known?.size)
            difference.changes.append(.init(key, fields: known == nil ? nil : changed))
          }
        case .remove(let key):
          if try remove(key) { difference.changes.append(.init(key, fields: nil)) }
        }
      }
      return difference
    }
  }

  private func put(_ key: CacheKey, _ record: CacheRecord, _ time: Int64, replacing size: Int?) throws {
    let bytes = RecordCoding.encode(record)
    let insert = try database.statement(
      """
      INSERT INTO records (key, fields, written, used, size) VALUES (?1, ?2, ?3, ?4, ?5)
      ON CONFLICT (key) DO UPDATE SET fields = ?2, written = ?3, used = ?4, size = ?5
      """)
    let newSize = bytes.count + key.text.utf8.count
    try insert.bind(1, text: key.text)
    try insert.bind(2, blob: bytes)
    try insert.bind(3, time)
    try insert.bind(4, nextUse)
    try insert.bind(5, Int64(newSize))
    try insert.run()
    nextUse += 1
    usage.bytes += newSize - (size ?? 0)
    if size == nil { usage.records += 1 }
  }

  private func refresh(_ key: CacheKey, _ time: Int64) throws {
    let update = try database.statement("UPDATE records SET written = ?2, used = ?3 WHERE key = ?1")
    try update.bind(1, text: key.text)
    try update.bind(2, time)
    try update.bind(3, nextUse)
    try update.run()
    nextUse += 1
  }

  private func remove(_ key: CacheKey) throws -> Bool {
    let delete = try database.statement("DELETE FROM records WHERE key = ?1 RETURNING size")
    try delete.bind(1, text: key.text)
    guard try delete.step() else { return false }
    usage.bytes -= Int(delete.int64(0))
    usage.records -= 1
    while try delete.step() {}
    return true
  }

  private func noteUses() throws {
    for (key, use) in touched { try setUse(of: key, use) }
    touched = [:]
  }

  private func setUse(of key: CacheKey, _ use: Int64) throws {
    let update = try database.statement("UPDATE records SET used = ?2 WHERE key = ?1")
    try update.bind(1, text: key.text)
    try update.bind(2, use)
    try update.run()
  }

  private func transaction<Answer>(_ body: () throws -> Answer) throws -> Answer {
    let before = (usage, nextUse)
    try database.execute("BEGIN IMMEDIATE")
    do {
      let answer = try body()
      try database.execute("COMMIT")
      if database.logPages > Self.checkpointPages { _ = try database.checkpoint(.passive) }
      return answer
    } catch {
      (usage, nextUse) = before
      // After some failures SQLite has rolled back by itself.
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw error
    }
  }

  // MARK: Bounds

  /// Removes what was written before `expiry`, then what was not used for longest.
  public func evict(
    toRecords records: Int, bytes: Int, expiry: Duration?, isSpared: (CacheKey) -> Bool
  ) throws -> [CacheKey] {
    try transaction {
      try noteUses()
      var removed: [CacheKey] = []
      if let expiry {
        let select = try database.statement("SELECT key FROM records WHERE written < ?1")
        try select.bind(1, Self.milliseconds(expiry))
        while try select.step() {
          let key = CacheKey(select.text(0))
          if !isSpared(key) { removed.append(key) }
        }
        for key in removed { _ = try remove(key) }
      }
      let end = nextUse
      while usage.records > records || usage.bytes > bytes {
        let oldest = try oldest(before: end)
        if oldest.isEmpty { break }
        for key in oldest where usage.records > records || usage.bytes > bytes {
          if isSpared(key) {
            // Out of the way of the next call.
            try setUse(of: key, nextUse)
            nextUse += 1
          } else if try remove(key) {
            removed.append(key)
          }
        }
      }
      return removed
    }
  }

  private func oldest(before end: Int64) throws -> [CacheKey] {
    let select = try database.statement("SELECT key FROM records WHERE used < ?1 ORDER BY used LIMIT 256")
    try select.bind(1, end)
    var keys: [CacheKey] = []
    while try select.step() { keys.append(CacheKey(select.text(0))) }
    return keys
  }

  /// Removes everything.
  public func removeAll() throws {
    try transaction {
      try database.execute("DELETE FROM records")
      usage = CacheUsage(records: 0, bytes: 0)
      touched = [:]
    }
  }

  private static func milliseconds(_ time: Duration) -> Int64 {
    let (seconds, attoseconds) = time.components
    return seconds.multipliedReportingOverflow(by: 1_000).partialValue &+ attoseconds / 1_000_000_000_000_000
  }
}
