internal import MartletChangeFeed
internal import MartletSQLite

extension LogTable {
  /// The groups after `offset`, whole and in order, until `bytes` of entries are reached: at least one when there is
  /// one. Nil when the entry at `offset` has no row: the checksum that the groups continue is not known then.
  func groups(after offset: Int64, bytes: Int) throws -> [LogGroup]? {
    let lineage = try LineageTable.read(database)
    var groups: [LogGroup] = []
    var size = 0
    guard var checksum = try self.checksum(at: offset) else { return nil }
    let rows = try database.statement(
      "SELECT offset, at, head, checksum, entry FROM martlet_log WHERE offset > ? ORDER BY offset")
    defer { rows.reset() }
    try rows.bind(1, offset)
    while try rows.step() {
      let head = rows.int64(2)
      let entry = rows.bytes(4)
      if let last = groups.indices.last, groups[last].first == head {
        groups[last].entries.append(entry)
      } else {
        if !groups.isEmpty, size >= bytes { break }
        groups.append(
          LogGroup(
            first: rows.int64(0), term: lineage.term(at: head), time: rows.int64(1), checksumBefore: checksum.value,
            entries: [entry]))
      }
      size += entry.count
      checksum = RunningChecksum(UInt64(bitPattern: rows.int64(3)))
    }
    return groups
  }
}

extension Lineage {
  /// The term in which the entry at `offset` was written.
  fileprivate func term(at offset: Int64) -> UInt64 {
    entries.last { $0.firstOffset <= offset }?.term ?? 0
  }
}
