internal import MartletSQLite

/// The log's rows on one connection: append a group, read a range, delete what has expired. Confined to the
/// connection's thread.
///
/// Each row carries the sum of all entries' bytes up to it, so that the retained size is one subtraction, the first
/// offset of its group, and the running checksum after it. The newest row is never deleted: the end of the log is
/// always a row. Nor is the one before the oldest that has not expired: its checksum is what a store that lags up to
/// there is compared with.
final class LogTable {
  static let tables = """
    CREATE TABLE martlet_log(
      offset INTEGER PRIMARY KEY, at INTEGER NOT NULL, total INTEGER NOT NULL, head INTEGER NOT NULL DEFAULT 0,
      checksum INTEGER NOT NULL DEFAULT 0, entry BLOB NOT NULL) STRICT;
    CREATE TABLE martlet_lineage(ordinal INTEGER PRIMARY KEY, term INTEGER NOT NULL, first INTEGER NOT NULL) STRICT;
    """ + horizonTable

  static let horizonTable = """
    CREATE TABLE martlet_horizon(
      id INTEGER PRIMARY KEY CHECK (id = 1), first INTEGER NOT NULL, clients INTEGER NOT NULL,
      tombstones INTEGER NOT NULL) STRICT;
    INSERT INTO martlet_horizon(id, first, clients, tombstones) VALUES(1, 1, 0, 0);
    """

  /// Where the log begins and ends.
  struct Position: Equatable {
    /// The newest offset; 0 when nothing was ever written.
    var head: Int64 = 0
    /// Bytes of all entries ever written.
    var total: Int64 = 0
    /// The running checksum after the newest entry.
    var checksum = RunningChecksum.empty
    /// The newest group's time.
    var time: Int64 = 0
    /// The oldest offset that has not expired; one past the head when there is none. A row that is missing from there
    /// on is damage.
    var first: Int64 = 1
    /// Bytes of all entries before `first`.
    var forgotten: Int64 = 0
    /// The oldest offset that still has a row; at most `first` in a log without damage.
    var firstRow: Int64 = 1
    /// Rows before this one can be deleted.
    var firstKeptRow: Int64 { first - 1 }

    /// Bytes of the entries that have not expired.
    var bytes: Int64 { total - forgotten }
  }

  /// Rows that one statement inserts.
  private static let rowsAtOnce = 16

  let database: Database
  /// Entries that have no rows yet.
  var span: LogSpan?
  private let insert: Statement
  private let insertSeveral: Statement
  private let range: Statement

  init(_ database: Database) throws(SQLiteError) {
    self.database = database
    insert = try database.prepare(Self.insertion(1))
    insertSeveral = try database.prepare(Self.insertion(Self.rowsAtOnce))
    range = try database.prepare(LogRows.select)
  }

  // MARK: Position

  /// Where the log begins and ends in the connection's transaction.
  func position() throws(SQLiteError) -> Position {
    var position = Position()
    let newest = try database.statement(
      "SELECT offset, total, checksum, at FROM martlet_log ORDER BY offset DESC LIMIT 1")
    defer { newest.reset() }
    guard try newest.step() else { return position }
    position.head = newest.int64(0)
    position.total = newest.int64(1)
    position.checksum = RunningChecksum(UInt64(bitPattern: newest.int64(2)))
    position.time = newest.int64(3)
    let oldest = try database.statement("SELECT offset FROM martlet_log ORDER BY offset LIMIT 1")
    defer { oldest.reset() }
    if try oldest.step() { position.firstRow = oldest.int64(0) }
    try expire(before: try horizon().firstOffset, &position)
    return position
  }

  /// Sets where the log begins: at `offset`, also when its row is missing.
  func expire(before offset: Int64, _ position: inout Position) throws(SQLiteError) {
    position.first = offset
    position.forgotten = try total(before: position.first) ?? position.total
  }

  /// Bytes of all entries before the first row from `offset` on; nil when there is none.
  private func total(before offset: Int64) throws(SQLiteError) -> Int64? {
    let row = try database.statement(
      "SELECT total - length(entry) FROM martlet_log WHERE offset >= ? ORDER BY offset LIMIT 1")
    defer { row.reset() }
    try row.bind(1, offset)
    return try row.step() ? row.int64(0) : nil
  }

  // MARK: Horizon

  func horizon() throws(SQLiteError) -> Horizon {
    var horizon = Horizon()
    let row = try database.statement("SELECT first, clients, tombstones FROM martlet_horizon")
    defer { row.reset() }
    guard try row.step() else { return horizon }
    horizon.firstOffset = row.int64(0)
    horizon.clientsBefore = row.int64(1)
    horizon.tombstonesBefore = row.int64(2)
    return horizon
  }

  func set(_ horizon: Horizon) throws(SQLiteError) {
    let update = try database.statement("UPDATE martlet_horizon SET first = ?, clients = ?, tombstones = ?")
    try update.bind(1, horizon.firstOffset)
    try update.bind(2, horizon.clientsBefore)
    try update.bind(3, horizon.tombstonesBefore)
    try update.run()
  }

  // MARK: Appending

  private static func insertion(_ rows: Int) -> String {
    let values = repeatElement("(?, ?, ?, ?, ?, ?)", count: rows).joined(separator: ", ")
    return "INSERT INTO martlet_log(offset, at, total, head, checksum, entry) VALUES\(values)"
  }

  /// Appends a group, which must follow the newest row.
  func append(_ group: LogGroup, _ position: inout Position) throws(SQLiteError) {
    try append(group.entries.count, first: group.first, group, &position) { group.entries[$0] }
  }

  /// Appends the only row of entries that wait for the others, and says where they are. They follow the newest row.
  func append(
    _ coded: CodedEntries, _ group: LogGroup, _ position: inout Position
  ) throws(SQLiteError) -> LogSpan {
    let span = LogSpan(
      first: group.first, last: group.first + Int64(coded.count) - 1, time: group.time, totalBefore: position.total,
      checksumBefore: position.checksum)
    for index in 0..<(coded.count - 1) { advance(&position, coded.place(of: index), of: coded.bytes, group) }
    try append(1, first: span.last, group, &position) { _ in coded[coded.count - 1] }
    return span
  }

  /// Gives some entries of a span their rows, the first of them as number `ordinal` of the span. `position` is the one
  /// before it.
  func fill(
    _ span: LogSpan, _ coded: CodedEntries, from ordinal: Int, _ part: Range<Int>, _ position: inout Position
  ) throws(SQLiteError) {
    let group = LogGroup(first: span.first, term: 0, time: span.time, checksumBefore: 0, entries: [])
    try append(part.count, first: span.first + Int64(ordinal), group, &position) { coded[part.lowerBound + $0] }
  }

  /// Moves a position over an entry of a span that has its row.
  func skip(_ span: LogSpan, _ coded: CodedEntries, _ position: inout Position) {
    let group = LogGroup(first: span.first, term: 0, time: span.time, checksumBefore: 0, entries: [])
    if position.head == 0 { position.head = span.first - 1 }
    advance(&position, coded.place(of: 0), of: coded.bytes, group)
  }

  private func append(
    _ count: Int, first: Int64, _ group: LogGroup, _ position: inout Position, _ entry: (Int) -> [UInt8]
  ) throws(SQLiteError) {
    position.head = first - 1
    var index = 0
    while index < count {
      let rows = count - index >= Self.rowsAtOnce ? Self.rowsAtOnce : 1
      let statement = rows == 1 ? insert : insertSeveral
      for row in 0..<rows { try bind(entry(index + row), group, to: statement, at: 6 * row, &position) }
      try statement.run()
      index += rows
    }
    position.time = group.time
  }

  /// Binds one entry to the six parameters after the first `bound`.
  private func bind(
    _ entry: [UInt8], _ group: LogGroup, to statement: Statement, at bound: Int, _ position: inout Position
  ) throws(SQLiteError) {
    advance(&position, entry.indices, of: entry, group)
    try statement.bind(bound + 1, position.head)
    try statement.bind(bound + 2, group.time)
    try statement.bind(bound + 3, position.total)
    try statement.bind(bound + 4, group.first)
    try statement.bind(bound + 5, Int64(bitPattern: position.checksum.value))
    try statement.bind(bound + 6, blob: entry)
  }

  /// Moves a position over one entry.
  private func advance(_ position: inout Position, _ entry: Range<Int>, of bytes: [UInt8], _ group: LogGroup) {
    position.head += 1
    position.total += Int64(entry.count)
    position.checksum.add(entry, of: bytes, offset: position.head, head: group.first, time: group.time)
  }

  // MARK: Reading

  /// One entry, as it was read.
  struct Row {
    var offset: Int64
    var entry: [UInt8]
    var time: Int64
    /// Whether the row has the running checksum that its bytes and the row before it give. True where the row before it
    /// has been deleted, because nothing can be said then.
    var isIntact: Bool
  }

  /// Calls `body` with the entries after `offset`, in order, until it returns false.
  func read(after offset: Int64, _ body: (Row) throws -> Bool) throws {
    var before = try checksum(at: offset)
    var rows = try LogRows(range, after: offset, span, database)
    defer { rows.end() }
    while try rows.step() {
      var row = Row(offset: rows.offset, entry: rows.entry, time: rows.time, isIntact: true)
      let stored = rows.checksum
      if var checksum = before {
        checksum.add(row.entry, offset: row.offset, head: rows.head, time: row.time)
        row.isIntact = stored.map { $0 == checksum } ?? true
        before = stored ?? checksum
      } else {
        before = stored
      }
      guard try body(row) else { return }
    }
  }

  /// The running checksum after the entry at `offset`; nil when it has no row.
  func checksum(at offset: Int64) throws(SQLiteError) -> RunningChecksum? {
    if offset == 0 { return .empty }
    if let span, span.contains(offset) { return try checksum(at: offset, in: span) }
    let row = try database.statement("SELECT checksum FROM martlet_log WHERE offset = ?")
    defer { row.reset() }
    try row.bind(1, offset)
    return try row.step() ? RunningChecksum(UInt64(bitPattern: row.int64(0))) : nil
  }

  /// The same after an entry that may have no row yet.
  private func checksum(at offset: Int64, in span: LogSpan) throws(SQLiteError) -> RunningChecksum {
    var checksum = span.checksumBefore
    var rows = try LogRows(try database.prepare(LogRows.select), after: span.first - 1, span, database)
    while try rows.step(), rows.offset <= offset {
      checksum.add(rows.entry, offset: rows.offset, head: span.first, time: span.time)
    }
    return checksum
  }

  // MARK: Retention

  /// The first offset to keep so that at most `bytes` are kept: the beginning of a transaction, and at most `last`.
  func firstOffset(keeping bytes: Int64, _ position: Position, atMost last: Int64) throws(SQLiteError) -> Int64 {
    let offset = try search(from: position.first, to: last, "total - length(entry)") { position.total - $0 <= bytes }
    return offset == position.first ? offset : try transactionStart(at: offset, atMost: last)
  }

  /// The first offset written at or after `time`: the beginning of a transaction, and at most `last`.
  func firstOffset(writtenSince time: Int64, _ position: Position, atMost last: Int64) throws(SQLiteError) -> Int64 {
    let offset = try search(from: position.first, to: last, "at") { $0 >= time }
    return offset == position.first ? offset : try transactionStart(at: offset, atMost: last)
  }

  /// The first offset whose `column` satisfies `condition`, which holds for all later ones too; `last` when none does.
  /// A missing row counts as the next one, so that a hole does not keep the log from expiring.
  private func search(
    from first: Int64, to last: Int64, _ column: String, _ condition: (Int64) -> Bool
  ) throws(SQLiteError) -> Int64 {
    let row = try database.statement(
      "SELECT \(column) FROM martlet_log WHERE offset >= ? ORDER BY offset LIMIT 1")
    defer { row.reset() }
    var low = first
    var high = last
    while low < high {
      let middle = low + (high - low) / 2
      try row.bind(1, middle)
      guard try row.step() else { return first }
      let value = row.int64(0)
      row.reset()
      if condition(value) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The beginning of the first transaction that begins at or after `offset`.
  private func transactionStart(at offset: Int64, atMost last: Int64) throws(SQLiteError) -> Int64 {
    let rows = try database.statement(
      "SELECT offset, substr(entry, 1, 2) FROM martlet_log WHERE offset >= ? ORDER BY offset")
    defer { rows.reset() }
    try rows.bind(1, offset - 1)
    while try rows.step() {
      if rows.int64(0) >= last { break }
      if EntryCoder.endsTransaction(rows.bytes(1)) { return rows.int64(0) + 1 }
    }
    return last
  }

  /// Deletes at most `count` expired rows, and at most `bytes` of their entries but one row at least.
  func sweep(_ position: inout Position, count: Int64, bytes: Int64) throws(SQLiteError) {
    var end = min(position.firstKeptRow, position.firstRow + count)
    guard end > position.firstRow else { return }
    let before = try total(before: position.firstRow) ?? position.forgotten
    if let total = try total(before: end), total - before > bytes {
      end = try search(from: position.firstRow + 1, to: end, "total") { $0 - before > bytes }
    }
    let delete = try database.statement("DELETE FROM martlet_log WHERE offset < ?")
    try delete.bind(1, end)
    try delete.run()
    position.firstRow = end
  }
}
