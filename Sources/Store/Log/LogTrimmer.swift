internal import MartletSQLite
internal import MartletVocabulary

/// Deletes the log entries that are beyond retention, a bounded number of them with each group.
///
/// A look finds the newest transaction that may go, by point lookups: offsets are dense, and ages and sums grow with
/// them, so it costs the same for a transaction of any size. Then each group deletes the oldest entries up to there,
/// at least twice as many as it wrote, so that trimming keeps up with any rate and no group pays for a large one.
/// Between two groups the log may begin inside a transaction; a cursor before that transaction is a gap from its
/// first deletion on, and no cursor lies inside one. Confined to the writer's thread.
final class LogTrimmer {
  /// Groups between two looks when few entries are written, so that a look costs each group next to nothing.
  private static let groupsBetweenLooks = 64

  private let limits: StoreLimits
  private let atOffset: Statement
  private let endsFrom: Statement
  private let endsBefore: Statement
  private let oldest: Statement
  private let delete: Statement

  /// The last offset that may go; less than the log's first one when nothing is to be deleted.
  private var cut: Int64 = 0
  private var groupsUntilLook = 0
  private var headAtLook: Int64 = 0
  private var before = LogTable.Position()

  init(_ database: Database, _ position: LogTable.Position, limits: StoreLimits) throws(SQLiteError) {
    self.limits = limits
    before = position
    headAtLook = position.head
    atOffset = try database.prepare(
      "SELECT offset, at, total - length(entry) FROM martlet_log WHERE offset >= ? ORDER BY offset LIMIT 1")
    endsFrom = try database.prepare(
      "SELECT offset, substr(entry, 1, 2) FROM martlet_log WHERE offset >= ? ORDER BY offset")
    endsBefore = try database.prepare(
      "SELECT offset, substr(entry, 1, 2) FROM martlet_log WHERE offset < ? ORDER BY offset DESC")
    oldest = try database.prepare("SELECT offset, total FROM martlet_log WHERE offset <= ? ORDER BY offset LIMIT ?")
    delete = try database.prepare("DELETE FROM martlet_log WHERE offset <= ?")
  }

  /// Whether entries are known to be beyond retention that are still there.
  func isBehind(_ position: LogTable.Position) -> Bool { cut >= position.first }

  /// Looks again with the next call, however recent the last look was.
  func lookNow() { groupsUntilLook = 0 }

  /// Forgets what was found in a group that was rolled back to `position`.
  func rollBack(to position: LogTable.Position) {
    cut = 0
    before = position
    headAtLook = min(headAtLook, position.head)
  }

  /// Deletes a part of what is beyond retention. `at` is the calendar time of the group.
  func trim(_ position: inout LogTable.Position, at: Int64) throws(SQLiteError) {
    if cut < position.first, isLookDue(position) {
      groupsUntilLook = Self.groupsBetweenLooks
      headAtLook = position.head
      cut = try lastForgettable(position, at - limits.logAge.wholeNanoseconds / 1_000_000) ?? 0
    }
    if cut >= position.first { try deleteSome(&position) }
    before = position
  }

  private func isLookDue(_ position: LogTable.Position) -> Bool {
    groupsUntilLook -= 1
    return groupsUntilLook < 0 || position.head - headAtLook >= Int64(limits.forgottenAtOnce)
      || position.bytes > limits.logBytes
  }

  private func deleteSome(_ position: inout LogTable.Position) throws(SQLiteError) {
    let count = max(Int64(limits.forgottenAtOnce), 2 * (position.head - before.head))
    let bytes = max(limits.forgottenBytesAtOnce, 2 * (position.total - before.total))
    try oldest.bind(1, cut)
    try oldest.bind(2, count)
    defer { oldest.reset() }
    var last: (offset: Int64, total: Int64)?
    while try oldest.step() {
      let total = oldest.int64(1)
      // At least one goes, however large it is.
      if last != nil, total - position.forgotten > bytes { break }
      last = (oldest.int64(0), total)
    }
    oldest.reset()
    guard let last else {
      cut = 0
      return
    }
    try delete.bind(1, last.offset)
    try delete.run()
    position.first = last.offset + 1
    position.forgotten = last.total
  }

  // MARK: Looking

  /// The last offset of the newest transaction that may go; nil when all must stay.
  ///
  /// A transaction goes when it is older than `oldest`, or when the log with it is larger than it may be. The newest
  /// one always stays, so that the head is a row.
  private func lastForgettable(_ position: LogTable.Position, _ oldest: Int64) throws(SQLiteError) -> Int64? {
    guard position.first < position.head, try goes(position.first, position, oldest) else { return nil }
    // In steps that double: what may go is next to the beginning almost always.
    var low = position.first
    var step: Int64 = 1
    while low + step <= position.head, try goes(low + step, position, oldest) {
      low += step
      step *= 2
    }
    var high = min(low + step, position.head + 1)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if try goes(middle, position, oldest) { low = middle } else { high = middle }
    }
    guard let end = try firstEnd(endsFrom, low), end < position.head else { return try firstEnd(endsBefore, low) }
    return end
  }

  private func goes(_ offset: Int64, _ position: LogTable.Position, _ oldest: Int64) throws(SQLiteError) -> Bool {
    try atOffset.bind(1, offset)
    defer { atOffset.reset() }
    guard try atOffset.step() else { return false }
    return atOffset.int64(1) < oldest || position.total - atOffset.int64(2) > limits.logBytes
  }

  /// The first offset with an end-of-transaction mark, in the statement's direction from `offset` on.
  private func firstEnd(_ statement: Statement, _ offset: Int64) throws(SQLiteError) -> Int64? {
    try statement.bind(1, offset)
    defer { statement.reset() }
    while try statement.step() {
      if EntryCoder.endsTransaction(statement.bytes(1)) { return statement.int64(0) }
    }
    return nil
  }
}
