internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModelSchema
internal import MartletSQLite

/// A record named by model and key.
struct DeletedRecord: Hashable {
  var model: Int
  var key: RecordKey
}

/// The models' tables on one connection, and the write planner over them: conditions, versions, cascades and the
/// changes each write appends. Confined to the connection's thread.
final class Records {
  let tables: [RecordTable]
  private let positions: [Int: Int]

  init(_ shapes: [RecordShape], on database: Database) {
    tables = shapes.map { RecordTable($0, on: database) }
    positions = Dictionary(shapes.indices.map { (shapes[$0].model, $0) }) { first, _ in first }
  }

  /// The position of a model among the shapes.
  func position(of model: Int) throws(StoreError) -> Int {
    guard let position = positions[model] else {
      throw StoreError(.invalid, "there is no model number \(model)")
    }
    return position
  }

  func table(_ model: Int) throws(StoreError) -> RecordTable {
    tables[try position(of: model)]
  }

  // MARK: Writing

  @discardableResult
  func create(_ model: Int, _ record: Record, in transaction: OpenTransaction) throws -> StoredRecord {
    let table = try table(model)
    var record = record
    // A write that was planned before fields were added lacks their values.
    let added = table.shape.columns.dropFirst(record.values.count)
    record.values += added.map(\.defaultValue)
    try check(record, table.shape)
    table.normalize(&record)
    let key = table.key(of: record)
    let stored = StoredRecord(record: record, version: 1, created: transaction.at, changed: transaction.at)
    do {
      try table.insert(stored)
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      if try table.get(key) != nil {
        throw StoreError(.alreadyExists, "a \(table.shape.name) with this key exists already")
      }
      throw StoreError(.notUnique, "another \(table.shape.name) has the same value in a unique index")
    }
    try transaction.append(
      .record(RecordChange(kind: .create, model: model, key: key, version: 1, image: record)))
    return stored
  }

  @discardableResult
  func update(_ update: RecordUpdate, in transaction: OpenTransaction) throws -> StoredRecord {
    let table = try table(update.model)
    var stored = try existing(update.key, table, update.condition, update.expectedVersion)
    var fields: [Int] = []
    var old: [(field: Int, value: JSONValue)] = []
    for (field, value) in update.values {
      guard table.shape.columns.indices.contains(field) else {
        throw StoreError(.invalid, "\(table.shape.name) has no field number \(field)")
      }
      let value = table.shape.columns[field].storage.normalized(value)
      let before = stored.record.values[field]
      guard value != before else { continue }
      if table.shape.key.contains(field) {
        throw StoreError(
          .invalid, "\(table.shape.name).\(table.shape.columns[field].field) is part of the key and cannot change")
      }
      stored.record.values[field] = value
      fields.append(field)
      old.append((field, before))
    }
    try check(stored.record, table.shape)
    stored.version += 1
    stored.changed = transaction.at
    do {
      try table.update(update.key, fields.sorted(), of: stored)
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      throw StoreError(.notUnique, "another \(table.shape.name) has the same value in a unique index")
    }
    try transaction.append(
      .record(
        RecordChange(
          kind: .update, model: update.model, key: update.key, version: stored.version, image: stored.record, old: old))
    )
    return stored
  }

  @discardableResult
  func delete(
    _ model: Int, _ key: RecordKey, condition: Predicate = .all, expectedVersion: Int64? = nil,
    in transaction: OpenTransaction
  ) throws -> StoredRecord {
    let table = try table(model)
    let stored = try existing(key, table, condition, expectedVersion)
    transaction.deleting.insert(DeletedRecord(model: model, key: key))
    for cascade in table.shape.cascades {
      for child in try children(of: key, cascade)
      where !transaction.deleting.contains(DeletedRecord(model: cascade.child, key: child)) {
        try delete(cascade.child, child, in: transaction)
      }
    }
    try table.delete(key)
    try transaction.append(
      .record(
        RecordChange(kind: .delete, model: model, key: key, version: stored.version + 1, image: stored.record)))
    return stored
  }

  // MARK: Checks

  private func existing(
    _ key: RecordKey, _ table: RecordTable, _ condition: Predicate, _ expectedVersion: Int64?
  ) throws -> StoredRecord {
    guard let stored = try table.get(key) else {
      throw StoreError(.notFound, "there is no \(table.shape.name) with this key")
    }
    if let expectedVersion, expectedVersion != stored.version {
      throw StoreError(
        .versionMismatch, "the \(table.shape.name) has version \(stored.version), not \(expectedVersion)")
    }
    guard condition.matches(stored.record) else {
      throw StoreError(.conditionFailed, "the condition does not hold for the \(table.shape.name)")
    }
    return stored
  }

  private func check(_ record: Record, _ shape: RecordShape) throws(StoreError) {
    guard record.values.count == shape.columns.count else {
      throw StoreError(.invalid, "a \(shape.name) has \(shape.columns.count) fields, not \(record.values.count)")
    }
    for (field, column) in shape.columns.enumerated() where column.isRequired && record.values[field].isNull {
      throw StoreError(.invalid, "\(shape.name).\(column.field) is required")
    }
  }

  /// The keys of the children that refer to a parent's key.
  private func children(of key: RecordKey, _ cascade: RecordShape.Cascade) throws -> [RecordKey] {
    let table = try table(cascade.child)
    let shape = table.shape
    let condition = cascade.reference.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
    let columns = shape.key.map(shape.column).joined(separator: ", ")
    let rows = try table.select("SELECT \(columns) FROM \(shape.table) WHERE \(condition) ORDER BY \(columns)")
    for (index, field) in cascade.reference.enumerated() where key.values.indices.contains(index) {
      try shape.columns[field].storage.bind(key.values[index], to: rows, at: index + 1)
    }
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
}
