internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletSQLite
internal import MartletSyncEngine

/// Reads rows for queries: conditions and order in SQL, lists and embedded values in memory.
struct ClientQueries {
  let records: Records
  let database: Database
  /// The models' shapes by number, for conditions over relations.
  let shapes: [Int: RecordShape]

  init(_ records: Records, on database: Database) {
    self.records = records
    self.database = database
    shapes = Dictionary(records.tables.map { ($0.shape.model, $0.shape) }) { first, _ in first }
  }

  /// The store as it is, for conditions and rows that need related records.
  var present: CommitRows { CommitRows { try related($0, $1, $2) } }

  /// The rows of a model that have `values` in `fields`. Null relates to nothing.
  func related(_ model: Int, _ fields: [Int], _ values: [JSONValue]) throws -> [LiveRow] {
    let table = try records.table(model)
    let shape = table.shape
    guard fields.count == values.count, fields.allSatisfy(shape.columns.indices.contains) else {
      throw StoreError(.invalid, "a relation names fields that \(shape.name) does not have")
    }
    var exact: [SQLValue] = []
    for (field, value) in zip(fields, values) {
      guard let value = ExactValue(value, shape.columns[field].storage) else { return [] }
      exact.append(value.value)
    }
    let condition = fields.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
    let statement = try database.statement("SELECT \(table.columns) FROM \(shape.table) WHERE \(condition)")
    for (index, value) in exact.enumerated() { try value.bind(to: statement, at: index + 1) }
    defer { statement.reset() }
    var rows: [LiveRow] = []
    while try statement.step() { rows.append(row(try table.row(statement), table)) }
    return rows
  }

  /// The rows that a query asks for. `visit` gets them in pieces as they are read, when the processor has them at hand.
  func rows(
    _ query: WindowQuery, _ request: WindowRequest, visit: (ContiguousArray<LiveRow>) -> Void
  ) throws -> WindowRows {
    let table = try table(of: query)
    if request == .page(offset: 0, count: nil), let term = query.numericOrder(table.shape) {
      var keyed = query
      keyed.order = RowOrder([], primaryKey: table.shape.key)
      let rows = try select(keyed, table, nil, isReversed: false, skipping: 0, nil, visit)
      return WindowRows(rows.sorted(by: term), skipped: 0)
    }
    switch request {
    case .page(let offset, let count):
      let rows = try select(query, table, nil, isReversed: false, skipping: offset, count, visit)
      let skipped = rows.isEmpty && offset > 0 ? min(offset, try self.count(query, table)) : offset
      return WindowRows(rows, skipped: skipped)
    case .after(let row, let count):
      return WindowRows(try select(query, table, row, isReversed: false, skipping: 0, count, visit))
    case .before(let row, let count):
      return WindowRows(try select(query, table, row, isReversed: true, skipping: 0, count, visit).reversed())
    }
  }

  /// How many records the query selects, without its page.
  private func count(_ query: WindowQuery, _ table: RecordTable) throws -> Int {
    let condition = try PredicateSQL(query.predicate, table.shape, related: query.related, shapes: shapes)
    if condition.residual != nil {
      return try select(query, table, nil, isReversed: false, skipping: 0, nil) { _ in }.count
    }
    let statement = try database.statement("SELECT count(*) FROM \(table.shape.table) WHERE \(condition.text)")
    for (index, value) in condition.values.enumerated() { try value.bind(to: statement, at: index + 1) }
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// Totals over the records that a query selects.
  func totals(_ query: AggregateQuery) throws -> AggregateTotals {
    var totals = AggregateTotals(query.functions)
    try forEach(query) { totals.add($0) }
    return totals
  }

  /// Calls `body` with every record that the condition selects.
  private func forEach(_ query: AggregateQuery, _ body: (Record) -> Void) throws {
    let table = try records.table(query.model)
    let present = present
    let condition = try PredicateSQL(query.predicate, table.shape, related: query.related, shapes: shapes)
    let statement = try database.statement("SELECT \(table.columns) FROM \(table.shape.table) WHERE \(condition.text)")
    for (index, value) in condition.values.enumerated() { try value.bind(to: statement, at: index + 1) }
    defer { statement.reset() }
    while try statement.step() {
      let record = try table.row(statement).record
      if let residual = condition.residual, try !present.matches(residual, record, query.related, .after) { continue }
      body(record)
    }
  }

  /// Calls `body` with a statement that stands before the first row of a query's page; its columns are the record's
  /// fields. Returns false, without a call, when the rows or the condition need more than that.
  func read(_ query: WindowQuery, _ body: (Statement) throws -> Void) throws -> Bool {
    let table = try table(of: query)
    guard query.related.isEmpty else { return false }
    let sql = try sql(
      query, table, nil, isReversed: false, skipping: query.offset, query.limit, columns: table.fieldColumns)
    guard sql.residual == nil else { return false }
    let statement = try database.statement(sql.text)
    try sql.bind(to: statement)
    defer { statement.reset() }
    try body(statement)
    return true
  }

  /// The table of a query's model, which has the fields of its order.
  private func table(of query: WindowQuery) throws -> RecordTable {
    let table = try records.table(query.model)
    for term in query.order.terms where !table.shape.columns.indices.contains(term.field) {
      throw StoreError(.invalid, "\(table.shape.name) has no field number \(term.field)")
    }
    return table
  }

  private func sql(
    _ query: WindowQuery, _ table: RecordTable, _ bound: LiveRow?, isReversed: Bool, skipping: Int, _ count: Int?,
    columns: String? = nil
  ) throws(StoreError) -> BoundSQL {
    let shape = table.shape
    let condition = try PredicateSQL(query.predicate, shape, related: query.related, shapes: shapes)
    var text = condition.text
    var values = condition.values
    if let bound {
      let seek = seek(query.order, bound.record, shape, isReversed: isReversed)
      text = "(\(text)) AND (\(seek.text))"
      values += seek.values
    }
    let order = query.order.terms.map { term in
      "\(Self.ordered(term, shape)) \(term.isAscending != isReversed ? "ASC" : "DESC")"
    }
    let isPage = count != nil || skipping > 0
    let limit =
      condition.residual == nil && isPage ? " LIMIT \(count.map(Int64.init) ?? -1) OFFSET \(skipping)" : ""
    let columns = columns ?? table.columns
    return BoundSQL(
      text:
        "SELECT \(columns) FROM \(shape.table) WHERE \(text) ORDER BY \(order.joined(separator: ", "))\(limit)",
      values: values, residual: condition.residual)
  }

  /// How SQLite finds the rows of a query, one line per step.
  func plan(_ query: WindowQuery) throws -> [String] {
    let sql = try sql(
      query, try records.table(query.model), nil, isReversed: false, skipping: query.offset, query.limit)
    return try database.queryPlan(sql.text)
  }

  private func select(
    _ query: WindowQuery, _ table: RecordTable, _ bound: LiveRow?, isReversed: Bool, skipping: Int, _ count: Int?,
    _ visit: (ContiguousArray<LiveRow>) -> Void
  ) throws -> SharedChunks<LiveRow> {
    let present = present
    let sql = try sql(query, table, bound, isReversed: isReversed, skipping: skipping, count)
    let statement = try database.statement(sql.text)
    try sql.bind(to: statement)
    defer { statement.reset() }
    let records = table.rows(statement)
    let key = table.shape.key
    let largest = SharedChunks<LiveRow>.filled
    var pieces: [ContiguousArray<LiveRow>] = []
    var piece = ContiguousArray<LiveRow>()
    func close() {
      if piece.isEmpty { return }
      visit(piece)
      pieces.append(piece)
    }
    let isWhole = query.related.isEmpty
    // What SQL does not decide is decided here, so that its limit would count too much.
    var left = sql.residual == nil ? 0 : skipping
    while pieces.count * largest + piece.count < count ?? .max, try statement.step() {
      let stored = try records.record()
      if let residual = sql.residual, try !present.matches(residual, stored.record, query.related, .after) {
        continue
      }
      if left > 0 {
        left -= 1
        continue
      }
      let shown = isWhole ? stored.record : try present.shown(stored.record, query.related, .after)
      if piece.isEmpty { piece.reserveCapacity(largest) }
      piece.append(row(stored, shown, key))
      if piece.count == largest {
        close()
        piece = []
      }
    }
    // The last piece has just the room that it needs; made of a slice, it would share the larger room.
    var last = ContiguousArray<LiveRow>()
    last.reserveCapacity(piece.count)
    last.append(contentsOf: piece)
    piece = last
    close()
    return SharedChunks(pieces: pieces)
  }

  /// A stored record as queries show it.
  func row(_ stored: StoredRecord, _ table: RecordTable) -> LiveRow { row(stored, stored.record, table.shape.key) }

  private func row(_ stored: StoredRecord, _ record: Record, _ key: [Int]) -> LiveRow {
    LiveRow(key: record.key(key), record: record, version: stored.version, isPending: stored.created != 0)
  }

  /// What a field is ordered by in SQL, which is the order in memory. A column of JSON may hold numbers, as that of a
  /// decimal does: those have the order of numbers and not of their texts.
  private static func ordered(_ term: SortOrder, _ shape: RecordShape) -> String {
    let column = shape.column(term.field)
    if term.isMoment { return "\(column) COLLATE \(MomentCollation.name)" }
    guard shape.columns[term.field].storage == .json else { return column }
    return "(CASE WHEN substr(\(column), 1, 1) BETWEEN '-' AND '9' THEN CAST(\(column) AS NUMERIC) ELSE \(column) END)"
  }

  /// A value that `ordered` is compared with.
  private static func ordered(_ value: JSONValue, _ field: Int, _ shape: RecordShape) -> SQLValue {
    switch (shape.columns[field].storage, value) {
    case (.json, .int(let number)): .integer(number)
    case (.json, .uint(let number)): .real(Double(number))
    case (.json, .double(let number)): .real(number)
    case (let storage, _): .column(value, storage)
    }
  }

  /// The rows after `record` in the order, or before it: for each leading part of the order, equal in the part and
  /// beyond in the next field. Null is before every value.
  private func seek(
    _ order: RowOrder, _ record: Record, _ shape: RecordShape, isReversed: Bool
  ) -> (text: String, values: [SQLValue]) {
    var alternatives: [String] = []
    var values: [SQLValue] = []
    for (index, term) in order.terms.enumerated() {
      let value = record[term.field]
      let column = Self.ordered(term, shape)
      let isUpwards = term.isAscending != isReversed
      if !isUpwards && value.isNull { continue }
      var parts = order.terms[..<index].map { "\(Self.ordered($0, shape)) IS ?" }
      values += order.terms[..<index].map { Self.ordered(record[$0.field], $0.field, shape) }
      if value.isNull {
        parts.append("\(column) IS NOT NULL")
      } else {
        parts.append(isUpwards ? "\(column) > ?" : "(\(column) IS NULL OR \(column) < ?)")
        values.append(Self.ordered(value, term.field, shape))
      }
      alternatives.append("(" + parts.joined(separator: " AND ") + ")")
    }
    return (alternatives.isEmpty ? PredicateSQL.no : alternatives.joined(separator: " OR "), values)
  }
}
