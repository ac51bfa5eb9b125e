internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// Reads pages, and many records by their keys, in one go.
struct ListReader {
  /// Keys asked for in one statement.
  private static let keysAtOnce = 256

  private let records: Records
  private let database: Database
  private let bounds: ListBounds

  init(_ records: Records, _ database: Database, _ bounds: ListBounds = ListBounds()) {
    self.records = records
    self.database = database
    self.bounds = bounds
  }

  /// A page, without giving way to anything.
  func list(_ query: ListQuery) throws -> ListPage {
    var scan = try scan(query)
    while !scan.isFinished { try scan.advance(.max, on: database) }
    return scan.page
  }

  /// A page to be read in slices.
  func scan(_ query: ListQuery) throws -> ListScan {
    try ListScan(query, try records.table(query.model), bounds)
  }

  /// The first pages of each parent's children, to be read in slices.
  func scan(_ query: ChildrenQuery) throws -> ChildrenScan {
    try ChildrenScan(query, try records.table(query.model), bounds)
  }

  /// The records with these keys, in the keys' order; nil where there is none.
  func get(_ model: Int, _ keys: [RecordKey]) throws -> [StoredRecord?] {
    let table = try records.table(model)
    if keys.count == 1, let key = keys.first { return [try table.get(key)] }
    let shape = table.shape
    var found: [RecordKey: StoredRecord] = [:]
    var start = 0
    while start < keys.count {
      let end = min(start + Self.keysAtOnce, keys.count)
      // Powers of two keep the number of different statements small.
      var parts = 1
      while parts < end - start { parts *= 2 }
      let key = shape.key.map(shape.column).joined(separator: ", ")
      let tuple = "(\(SQLText.parameters(shape.key.count)))"
      let list = repeatElement(shape.key.count == 1 ? "?" : tuple, count: parts).joined(separator: ", ")
      let condition = shape.key.count == 1 ? "\(key) IN (\(list))" : "(\(key)) IN (VALUES \(list))"
      let statement = try database.statement(
        "SELECT \(table.columns) FROM \(shape.table) WHERE \(condition)\(table.hidden.and())")
      for part in 0..<parts {
        // What is missing to a power of two repeats the last key.
        try table.bind(keys[min(start + part, end - 1)], to: statement, at: part * shape.key.count + 1)
      }
      while try statement.step() {
        let stored = try table.row(statement)
        found[table.shape.key(of: stored.record)] = stored
      }
      start = end
    }
    return keys.map { found[$0] }
  }
}
