internal import MartletSQLite

/// One table in two stores, row by row in one order.
struct TableComparison {
  /// What the rows are, for the message.
  let name: String
  /// The query; its first `identifying` columns name a row.
  let sql: String
  let identifying: Int
  /// A table that folders of older versions do not have until they are served again.
  var table: String?

  /// Every table that the log makes, without what has expired: its rows go at each store's leisure.
  /// Nor the rows that are hidden in the first store.
  static func tables(_ catalogue: Catalogue, _ horizon: Horizon, _ hidden: HiddenRows) -> [TableComparison] {
    var tables = catalogue.models.map { model in
      let keys = model.key.map(SQLText.quoted).joined(separator: ", ")
      let columns = model.columns.map { SQLText.quoted($0.name) }
      let all = ([keys] + columns + [HiddenRows.column, SQLText.created, SQLText.changed]).joined(separator: ", ")
      return TableComparison(
        name: model.name,
        sql: """
          SELECT \(all) FROM \(SQLText.quoted("record_" + model.tableName))\(hidden.and("WHERE")) ORDER BY \(keys)
          """,
        identifying: model.key.count)
    }
    tables += [
      TableComparison(
        name: "the tombstone of model",
        sql: """
          SELECT model, hex(key), version, at, image FROM martlet_tombstones
          WHERE at >= \(horizon.tombstonesBefore) ORDER BY model, key
          """, identifying: 2),
      TableComparison(
        name: "the tree at", sql: "SELECT hex(key), value FROM martlet_tree ORDER BY key", identifying: 1,
        table: "martlet_tree"),
      TableComparison(
        name: "the priority in the tree at", sql: "SELECT hex(key) FROM martlet_tree_priorities ORDER BY key",
        identifying: 1, table: "martlet_tree_priorities"),
      TableComparison(
        name: "the deferred write of", sql: "SELECT owner, number, body FROM martlet_deferred ORDER BY owner, number",
        identifying: 2, table: "martlet_deferred"),
      TableComparison(
        name: "the definition of", sql: "SELECT kind, name, body FROM martlet_definitions ORDER BY kind, name",
        identifying: 2, table: "martlet_definitions"),
      TableComparison(
        name: "the client",
        sql: """
          SELECT identity, client, acknowledged, at FROM martlet_clients
          WHERE at >= \(horizon.clientsBefore) ORDER BY identity, client
          """, identifying: 2),
      TableComparison(
        name: "the outcome of write",
        sql: """
          SELECT c.identity, c.client, o.number, o.offset, o.result FROM martlet_outcomes o
          JOIN martlet_clients c ON c.id = o.client WHERE c.at >= \(horizon.clientsBefore) AND o.number > c.acknowledged
          ORDER BY c.identity, c.client, o.number
          """, identifying: 3),
      TableComparison(
        name: "the horizon", sql: "SELECT id, first, clients, tombstones FROM martlet_horizon", identifying: 1),
      TableComparison(
        name: "the term", sql: "SELECT ordinal, term, first FROM martlet_lineage ORDER BY ordinal", identifying: 1),
      TableComparison(
        name: "the revision", sql: "SELECT revision, schema, at, text FROM martlet_revisions ORDER BY revision",
        identifying: 1),
      TableComparison(
        name: "the model of the catalogue",
        sql: "SELECT number, table_name, name, key, is_dropped FROM martlet_models ORDER BY number", identifying: 1),
      TableComparison(
        name: "the field of the catalogue",
        sql: """
          SELECT model, number, name, signature, is_required, added, is_dropped, storage, added_default, fills
          FROM martlet_fields ORDER BY model, number
          """, identifying: 2),
      TableComparison(
        name: "the index of the catalogue",
        sql: "SELECT model, name, columns, is_unique FROM martlet_indexes ORDER BY model, name", identifying: 2),
    ]
    return tables
  }

  /// The first difference; nil when both have the same rows.
  func difference(_ first: Database, _ second: Database) throws -> String? {
    if let table, try !Self.holds(table, first) { return nil }
    let left = try first.prepare(sql)
    let right = try second.prepare(sql)
    while true {
      let (hasLeft, hasRight) = (try left.step(), try right.step())
      if !hasLeft && !hasRight { return nil }
      let (mine, others) = (hasLeft ? row(left) : [], hasRight ? row(right) : [])
      if mine == others { continue }
      let shown = (hasLeft ? mine : others).prefix(identifying).map(\.description).joined(separator: ", ")
      if hasLeft, hasRight, mine.prefix(identifying) == others.prefix(identifying) {
        return "\(name) \(shown) is not what the log makes of it"
      }
      return "\(name) \(shown) or one near it is there and not in the log, or the other way round"
    }
  }

  private static func holds(_ table: String, _ database: Database) throws -> Bool {
    let rows = try database.statement("SELECT 1 FROM sqlite_schema WHERE name = ?")
    defer { rows.reset() }
    try rows.bind(1, text: table)
    return try rows.step()
  }

  private enum Value: Equatable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(UInt64)
    case bytes([UInt8])

    var description: String {
      switch self {
      case .null: "null"
      case .integer(let number): "\(number)"
      case .real(let bits): "\(Double(bitPattern: bits))"
      case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
      }
    }
  }

  private func row(_ statement: Statement) -> [Value] {
    (0..<statement.columnCount).map { column in
      switch statement.type(column) {
      case .null: .null
      case .integer: .integer(statement.int64(column))
      case .real: .real(statement.double(column).bitPattern)
      case .text, .blob: .bytes(statement.bytes(column))
      }
    }
  }
}
