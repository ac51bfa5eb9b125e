internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// The first page of children of each of many parents, read in slices.
///
/// Without a filter, and in the order of an index, each parent looks at one row more than its page holds: then one
/// statement serves many parents. Otherwise each parent is a scan of its own, so that its rows are counted.
struct ChildrenScan {
  /// Parents asked about in one statement. SQLite takes 500 parts; longer statements only cost more to compile.
  private static let parentsAtOnce = 64

  private let query: ChildrenQuery
  private let table: RecordTable
  private let order: [SortOrder]
  private let limit: Int
  private let bounds: ListBounds
  private let isJoined: Bool
  private var next = 0
  private var current: ListScan?
  private(set) var pages: [ListPage]

  init(_ query: ChildrenQuery, _ table: RecordTable, _ bounds: ListBounds) throws {
    self.query = query
    self.table = table
    self.bounds = bounds
    let shape = table.shape
    for field in query.reference + query.order.map(\.field) where !shape.columns.indices.contains(field) {
      throw StoreError(.invalid, "\(shape.name) has no field number \(field)")
    }
    order = ListScan.total(query.order, fixed: query.reference, shape)
    limit = max(1, min(query.limit, bounds.pageRows))
    pages = query.parents.map { _ in ListPage(records: [], token: nil) }
    let one = ListQuery(
      model: query.model, equal: query.reference.map { ($0, .null) }, filter: query.filter, order: query.order)
    let path = try AccessPath(one, order: order, soughtValues: bounds.soughtValues, shape)
    isJoined = path.isOrdered && path.rest.isEmpty && path.seek.isEmpty && path.segment == nil
  }

  var isFinished: Bool { next >= query.parents.count }

  /// Looks at about `rows` rows: at least those of one parent's page.
  mutating func advance(_ rows: Int, on database: Database) throws {
    var left = rows
    while !isFinished && left > 0 {
      if isJoined {
        let parents = min(max(1, left / (limit + 1)), Self.parentsAtOnce)
        let end = min(next + parents, query.parents.count)
        left -= try readJoined(next..<end, database)
        next = end
      } else {
        left -= try readOne(left, database)
      }
    }
  }

  // MARK: One parent at a time

  private mutating func readOne(_ rows: Int, _ database: Database) throws -> Int {
    var scan: ListScan
    if let current {
      scan = current
    } else {
      let values = query.parents[next]
      let equal = query.reference.enumerated().map { position, field in
        (field: field, value: values.indices.contains(position) ? values[position] : .null)
      }
      // A parent without a value in its reference relates to nothing.
      if equal.contains(where: { $0.value.isNull }) {
        next += 1
        return 0
      }
      scan = try ListScan(
        ListQuery(model: query.model, equal: equal, filter: query.filter, order: query.order, limit: query.limit),
        table, bounds)
    }
    let count = try scan.advance(rows, on: database)
    if scan.isFinished {
      pages[next] = scan.page
      current = nil
      next += 1
    } else {
      current = scan
    }
    return count
  }

  // MARK: Many parents in one statement

  /// Returns how many rows it read, one for each parent at least.
  private mutating func readJoined(_ range: Range<Int>, _ database: Database) throws -> Int {
    let shape = table.shape
    // Powers of two keep the number of different statements small; parents that are not there refer to null.
    var parts = 1
    while parts < range.count { parts *= 2 }
    let reference = query.reference.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
    let select = (0..<parts).map { part in
      """
      SELECT * FROM (SELECT \(part) AS "#parent", \(table.columns) FROM \(shape.table) WHERE \(reference)\(table.hidden.and()) \
      ORDER BY \(ListScan.orderSQL(order, shape)) LIMIT \(limit + 1))
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
    }
    var rows = range.count
    while try statement.step() {
      rows += 1
      let parent = range.lowerBound + Int(statement.int64(0))
      guard pages.indices.contains(parent) else { continue }
      pages[parent].records.append(try table.row(statement, first: 1))
    }
    for parent in range where pages[parent].records.count > limit {
      pages[parent].records.removeLast(pages[parent].records.count - limit)
      guard let last = pages[parent].records.last else { continue }
      let shared = zip(query.reference, query.parents[parent]).map { (field: $0, value: $1) }
      pages[parent].token =
        PageToken(PageToken.Scope(shape, order, equal: shared), values: order.map { last.record.values[$0.field] }).text
    }
    return rows
  }
}
