internal import MartletSQLite

/// Entries of a large write that are in the log and do not have their rows yet: the last one has, and says that the
/// others were committed. They wait in a table of their own (`StagingTable`) and get their rows in slices.
struct LogSpan: Equatable {
  /// The offsets of the write's first and last entry.
  var first: Int64
  var last: Int64
  /// The time of its group.
  var time: Int64
  /// Bytes of all entries before the first, and the running checksum there.
  var totalBefore: Int64
  var checksumBefore: RunningChecksum

  /// Whether an entry may have no row.
  func contains(_ offset: Int64) -> Bool { offset >= first && offset < last }
}

/// The rows of the log after an offset, in order, with the entries that wait for their rows. Confined to the
/// connection's thread.
struct LogRows {
  static let select =
    "SELECT offset, entry, at, head, checksum, total FROM martlet_log WHERE offset > ? ORDER BY offset"

  private let rows: Statement
  private let span: LogSpan?
  private let waiting: Statement?
  /// The offset after the last one that was returned; nil before the first.
  private var next: Int64?
  /// Whether `rows` stands on a row that has not been returned.
  private var holdsRow = false
  private var isWaiting = false

  /// Begins after `offset`, which is nil at the log's first row.
  init(_ rows: Statement, after offset: Int64?, _ span: LogSpan?, _ database: Database) throws(SQLiteError) {
    self.rows = rows
    self.span = span
    waiting = span == nil ? nil : try database.prepare("SELECT entry FROM martlet_staged WHERE ordinal = ?")
    next = offset.map { $0 &+ 1 }
    rows.reset()
    try rows.bind(1, offset ?? .min)
  }

  /// Moves to the next entry; false when there is none.
  mutating func step() throws(SQLiteError) -> Bool {
    if !holdsRow { holdsRow = try rows.step() }
    isWaiting = false
    if let span, let waiting, let expected = next, span.contains(expected), !holdsRow || rows.int64(0) > expected {
      waiting.reset()
      try waiting.bind(1, expected - span.first)
      isWaiting = try waiting.step()
    }
    guard isWaiting || holdsRow else { return false }
    next = isWaiting ? next.map { $0 + 1 } : rows.int64(0) &+ 1
    if !isWaiting { holdsRow = false }
    return true
  }

  /// What the entry that was moved to has.
  var offset: Int64 { isWaiting ? (next ?? 1) - 1 : rows.int64(0) }
  var entry: [UInt8] { isWaiting ? waiting?.bytes(0) ?? [] : rows.bytes(1) }
  var time: Int64 { isWaiting ? span?.time ?? 0 : rows.int64(2) }
  /// The first offset of its group.
  var head: Int64 { isWaiting ? span?.first ?? 0 : rows.int64(3) }
  /// The running checksum after it, and the bytes of all entries up to it; nil while it has no row.
  var checksum: RunningChecksum? { isWaiting ? nil : RunningChecksum(UInt64(bitPattern: rows.int64(4))) }
  var total: Int64? { isWaiting ? nil : rows.int64(5) }

  func end() {
    rows.reset()
    waiting?.reset()
  }
}
