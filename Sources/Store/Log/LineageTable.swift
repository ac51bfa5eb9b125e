internal import MartletChangeFeed
internal import MartletSQLite

/// The terms of this log, as its term entries began them.
enum LineageTable {
  /// Folds the term entry at `offset`.
  static func fold(_ term: TermStart, offset: Int64, on database: Database) throws(SQLiteError) {
    let insert = try database.prepare("INSERT INTO martlet_lineage(ordinal, term, first) VALUES(?, ?, ?)")
    try insert.bind(1, term.ordinal)
    try insert.bind(2, Int64(bitPattern: term.term))
    try insert.bind(3, offset)
    try insert.run()
    let delete = try database.prepare("DELETE FROM martlet_lineage WHERE ordinal < ?")
    try delete.bind(1, term.keptFrom)
    try delete.run()
  }

  /// The entry that begins `term` now. `keeping` terms stay in the lineage.
  static func next(_ term: UInt64, keeping: Int, on database: Database) throws(SQLiteError) -> TermStart {
    let newest = try database.prepare("SELECT coalesce(max(ordinal), 0) FROM martlet_lineage")
    let ordinal = (try newest.step() ? newest.int64(0) : 0) + 1
    return TermStart(ordinal: ordinal, term: term, keptFrom: max(1, ordinal - Int64(keeping) + 1))
  }

  /// All terms, oldest first.
  static func read(_ database: Database) throws(SQLiteError) -> Lineage {
    let rows = try database.statement("SELECT term, first FROM martlet_lineage ORDER BY ordinal")
    var entries: [Lineage.Entry] = []
    while try rows.step() {
      entries.append(Lineage.Entry(term: UInt64(bitPattern: rows.int64(0)), firstOffset: rows.int64(1)))
    }
    return Lineage(entries)
  }
}
