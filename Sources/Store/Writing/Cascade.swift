internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// Deletes a record together with what its relations say of its children: those with CASCADE go first, those with
/// SET_NULL lose their reference, and those with RESTRICT keep it from being deleted. Confined to the connection's
/// thread.
///
/// Records wait on a stack of its own: a chain of relations may be as long as the bound of changes.
struct Cascade {
  /// A record whose deletion has begun, and the children that go before it.
  private struct Frame {
    var table: RecordTable
    var stored: StoredRecord
    var children: [NamedRecord]
  }

  private struct NamedRecord: Hashable {
    var model: Int
    var key: RecordKey
  }

  private let planner: RecordPlanner
  private let transaction: OpenTransaction
  /// Records whose deletion has begun, so that relations in a circle end.
  private var deleting: Set<NamedRecord> = []
  /// Changes that have been planned for children.
  private var planned: Int

  init(_ planner: RecordPlanner, _ transaction: OpenTransaction) {
    self.planner = planner
    self.transaction = transaction
    planned = transaction.cascaded
  }

  mutating func delete(_ table: RecordTable, _ stored: StoredRecord) throws {
    var stack = [try frame(table, stored)]
    while let top = stack.indices.last {
      if let child = stack[top].children.popLast() {
        guard !deleting.contains(child) else { continue }
        let table = try planner.records.table(child.model)
        // It may have been deleted by another way to it.
        guard let stored = try table.get(child.key) else { continue }
        stack.append(try frame(table, stored))
      } else {
        let frame = stack.removeLast()
        try planner.remove(frame.table, frame.stored, transaction, isCascade: !stack.isEmpty)
      }
    }
  }

  /// Begins a record's deletion.
  private mutating func frame(_ table: RecordTable, _ stored: StoredRecord) throws -> Frame {
    let key = table.shape.key(of: stored.record)
    deleting.insert(NamedRecord(model: table.shape.model, key: key))
    var frame = Frame(table: table, stored: stored, children: [])
    for cascade in table.shape.cascades where cascade.action == .refuse { try refuse(cascade, table.shape, key) }
    for cascade in table.shape.cascades where cascade.action == .clear { try clear(cascade, table.shape, key) }
    for cascade in table.shape.cascades where cascade.action == .delete {
      let children = try children(of: key, cascade, table.shape)
      frame.children += children.reversed().filter { !deleting.contains($0) }
    }
    return frame
  }

  private func refuse(_ cascade: RecordShape.Cascade, _ parent: RecordShape, _ key: RecordKey) throws {
    let table = try planner.records.table(cascade.child)
    let rows = try keys(of: table, cascade, key, limit: 2)
    let others = rows.filter { !deleting.contains(NamedRecord(model: cascade.child, key: $0)) }
    guard let first = others.first, let stored = try table.get(first) else { return }
    let count = try count(table, cascade, key)
    throw StoreError(
      .referenced,
      "\(parent.describe(key)) cannot be deleted while \(count) \(table.shape.name) records refer to it, such as "
        + table.shape.describe(first),
      StoreError.Conflict(model: cascade.child, key: first, version: stored.version))
  }

  private mutating func clear(_ cascade: RecordShape.Cascade, _ parent: RecordShape, _ key: RecordKey) throws {
    let table = try planner.records.table(cascade.child)
    for child in try children(of: key, cascade, parent) where !deleting.contains(child) {
      guard let stored = try table.get(child.key) else { continue }
      try planner.clear(cascade.reference, table, stored, transaction)
    }
  }

  /// The children that refer to a parent's key, counted against the bound.
  private mutating func children(
    of key: RecordKey, _ cascade: RecordShape.Cascade, _ parent: RecordShape
  ) throws -> [NamedRecord] {
    let table = try planner.records.table(cascade.child)
    let largest = transaction.largestCascade
    let found = try keys(of: table, cascade, key, limit: largest - planned + 1)
    guard planned + found.count <= largest else {
      let count = try planned + count(table, cascade, key)
      throw StoreError(
        .invalid,
        "deleting \(parent.describe(key)) would change at least \(count) records with it, and \(largest) is the most; "
          + "delete or change some of its \(table.shape.name) records first")
    }
    planned += found.count
    return found.map { NamedRecord(model: cascade.child, key: $0) }
  }

  // MARK: Reading

  private func keys(
    of table: RecordTable, _ cascade: RecordShape.Cascade, _ key: RecordKey, limit: Int
  ) throws -> [RecordKey] {
    let shape = table.shape
    let columns = shape.key.map(shape.column).joined(separator: ", ")
    let rows = try bound(table, cascade, key, "SELECT \(columns)", " ORDER BY \(columns) LIMIT ?")
    defer { rows.reset() }
    try rows.bind(cascade.reference.count + 1, Int64(limit))
    var keys: [RecordKey] = []
    while try rows.step() {
      var values: [JSONValue] = []
      for (index, field) in shape.key.enumerated() {
        values.append(try shape.columns[field].storage.read(rows, index))
      }
      keys.append(RecordKey(values: values))
    }
    return keys
  }

  private func count(_ table: RecordTable, _ cascade: RecordShape.Cascade, _ key: RecordKey) throws -> Int {
    let rows = try bound(table, cascade, key, "SELECT count(*)", "")
    defer { rows.reset() }
    return try rows.step() ? Int(rows.int64(0)) : 0
  }

  private func bound(
    _ table: RecordTable, _ cascade: RecordShape.Cascade, _ key: RecordKey, _ select: String, _ rest: String
  ) throws -> Statement {
    let shape = table.shape
    let condition = cascade.reference.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
    let rows = try table.select("\(select) FROM \(shape.table) WHERE \(condition)\(table.hidden.and())\(rest)")
    for (index, field) in cascade.reference.enumerated() where index < key.count {
      try shape.columns[field].storage.bind(key[index], to: rows, at: index + 1)
    }
    return rows
  }
}
