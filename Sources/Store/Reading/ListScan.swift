internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// A list being read, a number of rows at a time.
///
/// Between two calls of `advance` nothing is held of the database: the scan continues after the last row it has read,
/// in whatever snapshot comes then. A page that is read in several slices therefore shows each record as it was when
/// its slice was read; records come once, and in order.
///
/// "After (a, b, key)" is asked as one statement per leading part, longest first: same a and b, greater key; same a,
/// greater b; greater a. Each is a seek in an index and the rows come in order; most pages need only the first ones.
/// It also treats null, which row comparisons of SQL would drop.
struct ListScan {
  private let query: ListQuery
  private let table: RecordTable
  private let path: AccessPath
  /// The query's total order.
  private let order: [SortOrder]
  private let scope: PageToken.Scope
  private let limit: Int
  private let largestScan: Int
  private let rest: PredicateSQL
  /// Where the page before ended, in `order`; nil for the first page.
  private let start: [JSONValue]?

  /// The rows that match, in the query's order: one more than the page holds at most.
  private var found: [StoredRecord] = []
  /// Bytes of what was found in order.
  private var size = 0
  private var segment = 0
  /// The values of the last row that was looked at, in the path's order; nil before the segment's first.
  private var position: [JSONValue]?
  private(set) var isFinished = false
  /// Rows looked at so far.
  private(set) var scannedRows = 0

  init(_ query: ListQuery, _ table: RecordTable, _ bounds: ListBounds) throws {
    self.query = query
    self.table = table
    largestScan = bounds.scannedRows
    let shape = table.shape
    for field in query.equal.map(\.field) + query.order.map(\.field) where !shape.columns.indices.contains(field) {
      throw StoreError(.invalid, "\(shape.name) has no field number \(field)")
    }
    order = Self.total(query.order, fixed: query.equal.map(\.field), shape)
    path = try AccessPath(query, order: order, soughtValues: bounds.soughtValues, shape)
    rest = try PredicateSQL(.and(path.rest), shape)
    limit = max(1, min(query.limit, bounds.pageRows))
    scope = PageToken.Scope(shape, order, equal: query.equal)
    if let token = query.token { start = try PageToken(token, for: scope, order).values } else { start = nil }
    beginSegment()
  }

  // MARK: Reading

  /// Looks at up to `rows` rows; returns how many it looked at.
  @discardableResult
  mutating func advance(_ rows: Int, on database: Database) throws -> Int {
    let before = scannedRows
    var left = rows
    while !isFinished && left > 0 {
      if try lookAt(&left, database) { nextSegment() }
    }
    return scannedRows - before
  }

  /// The page, once the scan is finished.
  var page: ListPage {
    let count = min(limit, countWithinBytes)
    guard found.count > count else { return ListPage(records: found, token: nil) }
    let records = Array(found.prefix(count))
    let values = order.map { term in records.last?.record.values[term.field] ?? .null }
    return ListPage(records: records, token: PageToken(scope, values: values).text)
  }

  /// How many of the rows fill a page, by their bytes.
  private var countWithinBytes: Int {
    if query.bytes == .max { return .max }
    var size = 0
    let full = found.firstIndex { stored in
      size += stored.record.size
      return size >= query.bytes
    }
    return full.map { $0 + 1 } ?? .max
  }

  /// Reads on in one segment; true when it has no more rows.
  private mutating func lookAt(_ left: inout Int, _ database: Database) throws -> Bool {
    let positions = position.map { Self.behind($0, path.order, table.shape) } ?? [[]]
    for bounds in positions {
      let sql = try statement(bounds)
      let statement = try database.statement(sql.text)
      defer { statement.reset() }
      try sql.bind(to: statement)
      let wanted = path.isOrdered && path.rest.isEmpty ? limit + 1 - found.count : left
      try statement.bind(sql.values.count + 1, Int64(min(wanted, left)))
      while left > 0, try statement.step() {
        left -= 1
        scannedRows += 1
        try take(statement)
        if isFinished { return false }
        guard scannedRows <= largestScan else { throw tooManyRows }
        if left == 0 { position = try values(statement, path.order) }
      }
      if left == 0 { return false }
    }
    return true
  }

  /// Keeps the statement's row when it matches and belongs to the page.
  private mutating func take(_ statement: Statement) throws {
    if rest.text != PredicateSQL.yes, statement.int64(0) == 0 { return }
    if path.isOrdered {
      let stored = try table.row(statement, first: 1)
      guard rest.residual?.matches(stored.record) ?? true else { return }
      found.append(stored)
      // One row after those that fill the page says that there is another page.
      isFinished = found.count > limit || size >= query.bytes
      if query.bytes < .max { size += stored.record.size }
      return
    }
    let values = try values(statement, order)
    if let start, StoredOrder.compare(values, start, order, table.shape) <= 0 { return }
    if found.count > limit, let last = found.last, compare(values, last) >= 0 { return }
    let stored = try table.row(statement, first: 1)
    guard rest.residual?.matches(stored.record) ?? true else { return }
    // The first place whose row comes after this one.
    var low = 0
    var high = found.count
    while low < high {
      let middle = (low + high) / 2
      if compare(values, found[middle]) < 0 { high = middle } else { low = middle + 1 }
    }
    found.insert(stored, at: low)
    if found.count > limit + 1 { found.removeLast() }
  }

  private func compare(_ values: [JSONValue], _ other: StoredRecord) -> Int {
    StoredOrder.compare(values, order.map { other.record.values[$0.field] }, order, table.shape)
  }

  private func values(_ statement: Statement, _ order: [SortOrder]) throws -> [JSONValue] {
    try order.map { try table.shape.columns[$0.field].storage.read(statement, $0.field + 1) }
  }

  // MARK: Segments

  private mutating func nextSegment() {
    segment += 1
    beginSegment()
  }

  /// Sets the position the segment begins at: after the page before, when that ended in it.
  private mutating func beginSegment() {
    position = nil
    guard segment < path.segment?.values.count ?? 1 else {
      isFinished = true
      return
    }
    guard path.isOrdered, let start else { return }
    func value(_ field: Int) -> JSONValue {
      if let index = order.firstIndex(where: { $0.field == field }) { return start[index] }
      return path.constants[field] ?? .null
    }
    if let (field, values) = path.segment {
      let isAscending = order.first { $0.field == field }?.isAscending ?? true
      let result = StoredOrder.compare(values[segment], value(field), table.shape.columns[field].storage)
      if (isAscending ? result : -result) < 0 { return nextSegment() }
      guard result == 0 else { return }
    }
    position = path.order.map { value($0.field) }
  }

  // MARK: Limits

  private var tooManyRows: StoreError {
    let shape = table.shape
    var fields = query.equal.map(\.field)
    for part in PredicateSQL.conjuncts(query.filter) {
      switch part {
      case .compare(let field, .eq), .compare(let field, .moment(.eq)):
        if !fields.contains(field) { fields.append(field) }
      default: continue
      }
    }
    for term in query.order where !fields.contains(term.field) { fields.append(term.field) }
    var key = shape.key[...]
    while let last = fields.last, last == key.last {
      fields.removeLast()
      key.removeLast()
    }
    let names = fields.map { shape.columns[$0].field }.joined(separator: ", ")
    let advice =
      fields.isEmpty
      ? "the filter needs a condition on an indexed field" : "an index on \(shape.name)(\(names)) would find them"
    return StoreError(
      .tooManyRows, "the list of \(shape.name) looked at \(largestScan) records, the most for one page; \(advice)")
  }

  // MARK: SQL

  /// One condition of "after the last row".
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

  /// Everything after `values`, as conditions to be asked one after the other.
  private static func behind(_ values: [JSONValue], _ order: [SortOrder], _ shape: RecordShape) -> [[Bound]] {
    var positions: [[Bound]] = []
    for length in (0..<order.count).reversed() {
      // Nothing is after null when null comes last.
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

  private func statement(_ bounds: [Bound]) throws -> BoundSQL {
    let shape = table.shape
    var conditions: [String] = []
    var values: [SQLValue] = rest.values
    func same(_ field: Int, _ value: JSONValue) {
      if value.isNull {
        conditions.append("\(shape.column(field)) IS NULL")
      } else {
        conditions.append("\(shape.column(field)) = ?")
        values.append(.column(value, shape.columns[field].storage))
      }
    }
    for (field, value) in query.equal { same(field, value) }
    if let (field, segments) = path.segment, segments.indices.contains(segment) { same(field, segments[segment]) }
    let seek = try PredicateSQL(.and(path.seek), shape)
    if seek.text != PredicateSQL.yes {
      conditions.append(seek.text)
      values += seek.values
    }
    for bound in bounds {
      let name = shape.column(bound.term.field)
      switch bound.relation {
      case .same: same(bound.term.field, bound.value)
      case .behind where bound.value.isNull: conditions.append("\(name) IS NOT NULL")
      case .behind:
        conditions.append("\(name) \(bound.term.isAscending ? ">" : "<") ?")
        values.append(.column(bound.value, shape.columns[bound.term.field].storage))
      }
    }
    let source = path.index.map { "\(shape.table) INDEXED BY \(shape.quotedName(of: $0))" } ?? shape.table
    let condition =
      conditions.isEmpty
      ? table.hidden.and("WHERE") : " WHERE " + conditions.joined(separator: " AND ") + table.hidden.and()
    let by = path.order.isEmpty ? "" : " ORDER BY " + Self.orderSQL(path.order, shape)
    return BoundSQL(
      text: "SELECT \(rest.text), \(table.columns) FROM \(source)\(condition)\(by) LIMIT ?", values: values)
  }

  static func orderSQL(_ order: [SortOrder], _ shape: RecordShape) -> String {
    if order.isEmpty { return "1" }
    return order.map { shape.column($0.field) + ($0.isAscending ? "" : " DESC") }.joined(separator: ", ")
  }

  // MARK: For tests

  /// The statements of a page that begins after `values` of the query's order, or at the list's beginning.
  static func statements(_ query: ListQuery, behind values: [JSONValue]?, _ table: RecordTable) throws -> [String] {
    var query = query
    if let values {
      let order = total(query.order, fixed: query.equal.map(\.field), table.shape)
      query.token = PageToken(PageToken.Scope(table.shape, order, equal: query.equal), values: values).text
    }
    var scan = try ListScan(query, table, ListBounds().unbounded)
    var texts: [String] = []
    while !scan.isFinished {
      let positions = scan.position.map { behind($0, scan.path.order, table.shape) } ?? [[]]
      for bounds in positions { texts.append(try scan.statement(bounds).text) }
      scan.nextSegment()
    }
    return texts
  }
}
