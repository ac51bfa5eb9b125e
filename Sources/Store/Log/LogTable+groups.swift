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
    var rows = try LogRows(try database.statement(LogRows.select), after: offset, span, database)
    defer { rows.end() }
    while try rows.step() {
      let head = rows.head
      let entry = rows.entry
      if let last = groups.indices.last, groups[last].first == head {
        groups[last].entries.append(entry)
      } else {
        if !groups.isEmpty, size >= bytes { break }
        groups.append(
          LogGroup(
            first: rows.offset, term: lineage.term(at: head), time: rows.time, checksumBefore: checksum.value,
            entries: [entry]))
      }
      size += entry.count
      if let stored = rows.checksum {
        checksum = stored
      } else {
        checksum.add(entry, offset: rows.offset, head: head, time: rows.time)
      }
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
