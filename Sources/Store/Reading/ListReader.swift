internal import MartletJSON
internal import MartletModelSchema
internal import MartletSQLite

/// Reads pages. A page goes on behind the last record by seeking, never by counting rows over.
///
/// "Behind (a, b, key)" is asked as one statement per leading part, longest first: same a and b, greater key; same a,
/// greater b; greater a. Each is a seek in an index and the rows come in order; most pages need only the first ones.
/// It also treats null, which row comparisons of SQL would drop.
struct ListReader {
  /// Parents asked about in one statement. SQLite takes 500 parts; longer statements only cost more to compile.
  private static let parentsAtOnce = 64

  private let records: Records
  private let database: Database
  private let pageRows: Int

  init(_ records: Records, _ database: Database, pageRows: Int = 1_000) {
    self.records = records
    self.database = database
    self.pageRows = pageRows
  }

  // MARK: Pages

  func list(_ query: ListQuery) throws -> ListPage {
    let table = try records.table(query.model)
    let shape = table.shape
    try check(query.equal.map(\.field) + query.order.map(\.field), shape)
    let order = Self.total(query.order, fixed: query.equal.map(\.field), shape)
    let limit = max(1, min(query.limit, pageRows))
    var page = ListPage(records: [], token: nil)
    for position in try positions(query.token, order, shape) {
      let sql = try Self.sql(query, order, position, table)
      let statement = try database.statement(sql.text)
      defer { statement.reset() }
      try sql.bind(to: statement)
      // What SQL cannot decide is decided here, row by row, until the page is full.
      let rows = sql.residual == nil ? limit + 1 - page.records.count : -1
      try statement.bind(sql.values.count + 1, Int64(rows))
      while page.records.count <= limit, try statement.step() {
        let stored = try table.row(statement)
        if sql.residual?.matches(stored.record) ?? true { page.records.append(stored) }
      }
      if page.records.count > limit { break }
    }
    close(&page, limit, order, shape)
    return page
  }

  /// The statement of a query's first page, for tests that read its plan.
  static func firstPage(_ query: ListQuery, _ table: RecordTable) throws -> String {
    let order = total(query.order, fixed: query.equal.map(\.field), table.shape)
    return try sql(query, order, [], table).text
  }

  /// The statement of a query's rest at one position, for tests that read its plan.
  static func laterPage(_ query: ListQuery, _ values: [JSONValue], _ table: RecordTable) throws -> [String] {
    let order = total(query.order, fixed: query.equal.map(\.field), table.shape)
    return try behind(values, order, table.shape).map { try sql(query, order, $0, table).text }
  }

  private func close(_ page: inout ListPage, _ limit: Int, _ order: [SortOrder], _ shape: RecordShape) {
    guard page.records.count > limit else { return }
    page.records.removeLast(page.records.count - limit)
    guard let last = page.records.last else { return }
    page.token = PageToken(shape, order, values: order.map { last.record.values[$0.field] }).text
  }

  // MARK: Children

  func children(_ query: ChildrenQuery) throws -> [ListPage] {
    let table = try records.table(query.model)
    let shape = table.shape
    try check(query.reference + query.order.map(\.field), shape)
    let order = Self.total(query.order, fixed: query.reference, shape)
    let limit = max(1, min(query.limit, pageRows))
    var pages = query.parents.map { _ in ListPage(records: [], token: nil) }
    var start = 0
    while start < query.parents.count {
      let end = min(start + Self.parentsAtOnce, query.parents.count)
      // Powers of two keep the number of different statements small; parents that are not there refer to null.
      var parts = 1
      while parts < end - start { parts *= 2 }
      try children(query, order, table, start..<end, parts, limit, into: &pages)
      start = end
    }
    for index in pages.indices { close(&pages[index], limit, order, shape) }
    return pages
  }

  private func children(
    _ query: ChildrenQuery, _ order: [SortOrder], _ table: RecordTable, _ range: Range<Int>, _ parts: Int,
    _ limit: Int, into pages: inout [ListPage]
  ) throws {
    let shape = table.shape
    let filter = try PredicateSQL(query.filter, shape)
    let reference = query.reference.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
    let rows = filter.residual == nil ? limit + 1 : -1
    let select = (0..<parts).map { part in
      """
      SELECT * FROM (SELECT \(part) AS "#parent", \(table.columns) FROM \(shape.table) WHERE \(reference) \
      AND \(filter.text) ORDER BY \(Self.orderSQL(order, shape)) LIMIT \(rows))
      """
    }
    let statement = try database.statement(select.joined(separator: " UNION ALL "))
    defer { statement.reset() }
    var index = 1
    for part in 0..<parts {
      for (position, field) in query.reference.enumerated() {
        let parent = range.lowerBound + part
        let values = range.contains(parent) ? query.parents[parent] : []
        let value = values.indices.contains(position) ? values[position] : .null
        try shape.columns[field].storage.bind(value, to: statement, at: index)
        index += 1
      }
      for value in filter.values {
        try value.bind(to: statement, at: index)
        index += 1
      }
    }
    while try statement.step() {
      let parent = range.lowerBound + Int(statement.int64(0))
      guard pages.indices.contains(parent) else { continue }
      guard pages[parent].records.count <= limit else { continue }
      let stored = try table.row(statement, first: 1)
      if filter.residual?.matches(stored.record) ?? true { pages[parent].records.append(stored) }
    }
  }

  // MARK: Many keys

  /// The records with these keys, in the keys' order; nil where there is none.
  func get(_ model: Int, _ keys: [RecordKey]) throws -> [StoredRecord?] {
    let table = try records.table(model)
    if keys.count == 1, let key = keys.first { return [try table.get(key)] }
    let shape = table.shape
    var found: [RecordKey: StoredRecord] = [:]
    var start = 0
    while start < keys.count {
      let end = min(start + Self.parentsAtOnce * 4, keys.count)
      var parts = 1
      while parts < end - start { parts *= 2 }
      let key = shape.key.map(shape.column).joined(separator: ", ")
      let tuple = "(\(SQLText.parameters(shape.key.count)))"
      let list = repeatElement(shape.key.count == 1 ? "?" : tuple, count: parts).joined(separator: ", ")
      let condition = shape.key.count == 1 ? "\(key) IN (\(list))" : "(\(key)) IN (VALUES \(list))"
      let statement = try database.statement("SELECT \(table.columns) FROM \(shape.table) WHERE \(condition)")
      for part in 0..<parts {
        // What is missing to a power of two repeats the last key.
        try table.bind(keys[min(start + part, end - 1)], to: statement, at: part * shape.key.count + 1)
      }
      while try statement.step() {
        let stored = try table.row(statement)
        found[table.key(of: stored.record)] = stored
      }
      start = end
    }
    return keys.map { found[$0] }
  }

  // MARK: SQL

  /// One condition of "behind the last record".
  struct Bound {
    enum Relation { case same, behind }
    var term: SortOrder
    var relation: Relation
    var value: JSONValue
  }

  /// The order made total: then by the key, in the direction of the last term so that one index gives it all.
  static func total(_ order: [SortOrder], fixed: [Int], _ shape: RecordShape) -> [SortOrder] {
    var terms: [SortOrder] = []
    for term in order where !fixed.contains(term.field) && !terms.contains(where: { $0.field == term.field }) {
      terms.append(term)
    }
    let isAscending = (terms.last ?? order.last)?.isAscending ?? true
    for field in shape.key where !fixed.contains(field) && !terms.contains(where: { $0.field == field }) {
      terms.append(SortOrder(field: field, isAscending: isAscending))
    }
    return terms
  }

  private func positions(_ token: String?, _ order: [SortOrder], _ shape: RecordShape) throws -> [[Bound]] {
    guard let token else { return [[]] }
    return Self.behind(try PageToken(token, shape, order).values, order, shape)
  }

  /// Everything behind `values`, as conditions to be asked one after the other.
  private static func behind(_ values: [JSONValue], _ order: [SortOrder], _ shape: RecordShape) -> [[Bound]] {
    var positions: [[Bound]] = []
    for length in (0..<order.count).reversed() {
      // Nothing is behind null when null comes last.
      if !order[length].isAscending && values[length].isNull { continue }
      let term = order[length]
      let same = (0..<length).map { Bound(term: order[$0], relation: .same, value: values[$0]) }
      positions.append(same + [Bound(term: term, relation: .behind, value: values[length])])
      if !term.isAscending && !shape.key.contains(term.field) {
        positions.append(same + [Bound(term: term, relation: .same, value: .null)])
      }
    }
    return positions
  }

  private static func sql(
    _ query: ListQuery, _ order: [SortOrder], _ position: [Bound], _ table: RecordTable
  ) throws -> BoundSQL {
    let shape = table.shape
    var conditions: [String] = []
    var values: [SQLValue] = []
    func same(_ field: Int, _ value: JSONValue) {
      if value.isNull {
        conditions.append("\(shape.column(field)) IS NULL")
      } else {
        conditions.append("\(shape.column(field)) = ?")
        values.append(.column(value, shape.columns[field].storage))
      }
    }
    for (field, value) in query.equal { same(field, value) }
    for bound in position {
      let name = shape.column(bound.term.field)
      switch bound.relation {
      case .same: same(bound.term.field, bound.value)
      case .behind where bound.value.isNull: conditions.append("\(name) IS NOT NULL")
      case .behind:
        conditions.append("\(name) \(bound.term.isAscending ? ">" : "<") ?")
        values.append(.column(bound.value, shape.columns[bound.term.field].storage))
      }
    }
    let filter = try PredicateSQL(query.filter, shape)
    if filter.text != PredicateSQL.yes {
      conditions.append(filter.text)
      values += filter.values
    }
    let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let by = order.isEmpty ? "" : " ORDER BY " + orderSQL(order, shape)
    return BoundSQL(
      text: "SELECT \(table.columns) FROM \(shape.table)\(condition)\(by) LIMIT ?", values: values,
      residual: filter.residual)
  }

  private static func orderSQL(_ order: [SortOrder], _ shape: RecordShape) -> String {
    if order.isEmpty { return "1" }
    return order.map { shape.column($0.field) + ($0.isAscending ? "" : " DESC") }.joined(separator: ", ")
  }

  private func check(_ fields: [Int], _ shape: RecordShape) throws(StoreError) {
    for field in fields where !shape.columns.indices.contains(field) {
      throw StoreError(.invalid, "\(shape.name) has no field number \(field)")
    }
  }
}
