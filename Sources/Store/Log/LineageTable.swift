internal import MartletChangeFeed
internal import MartletSQLite

/// The runs of this log: each opening as authority appends its random term and the first offset it may write.
enum LineageTable {
  /// Appends a term and drops the oldest beyond `keeping`.
  static func append(term: UInt64, first: Int64, keeping: Int, on database: Database) throws(SQLiteError) {
    let insert = try database.prepare("INSERT INTO martlet_lineage(term, first) VALUES(?, ?)")
    try insert.bind(1, Int64(bitPattern: term))
    try insert.bind(2, first)
    try insert.run()
    let delete = try database.prepare(
      "DELETE FROM martlet_lineage WHERE ordinal <= (SELECT max(ordinal) FROM martlet_lineage) - ?")
    try delete.bind(1, Int64(keeping))
    try delete.run()
  }

  /// All terms, oldest first.
  static func read(_ database: Database) throws(SQLiteError) -> [(term: UInt64, first: Int64)] {
    let rows = try database.statement("SELECT term, first FROM martlet_lineage ORDER BY ordinal")
    var terms: [(term: UInt64, first: Int64)] = []
    while try rows.step() { terms.append((UInt64(bitPattern: rows.int64(0)), rows.int64(1))) }
    return terms
  }
}
