internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModelSchema
internal import MartletSQLite

/// Decides what a write does to records: conditions, versions, conflicts, cascades, and the change each step appends.
/// Confined to the connection's thread.
final class RecordPlanner {
  private let fold: RecordFold
  /// What has expired, as of the group in progress.
  private let horizon: () -> Horizon

  init(_ fold: RecordFold, horizon: @escaping () -> Horizon) {
    self.fold = fold
    self.horizon = horizon
  }

  var records: Records { fold.records }

  @discardableResult
  func create(_ model: Int, _ record: Record, in transaction: OpenTransaction) throws -> StoredRecord {
    let table = try records.table(model)
    var record = record
    // A write that was planned before fields were added lacks their values.
    record.values += table.shape.columns.dropFirst(record.values.count).map(\.defaultValue)
    try check(record, table.shape)
    table.normalize(&record)
    let key = table.key(of: record)
    // A key that existed before keeps counting, so that no version names two states of one key.
    let version = try fold.tombstones.version(table.shape.storedNumber, key, horizon()).map { $0 + 1 } ?? 1
    let change = RecordChange(kind: .create, model: model, key: key, version: version, image: record)
    do {
      try fold.apply(change, at: transaction.at)
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      if let stored = try table.get(key) {
        throw StoreError(
          .alreadyExists, "a \(table.shape.name) with this key exists already", conflict(table, key, stored))
      }
      throw StoreError(.notUnique, "another \(table.shape.name) has the same value in a unique index")
    }
    try transaction.append(.record(change))
    return StoredRecord(record: record, version: version, created: transaction.at, changed: transaction.at)
  }

  @discardableResult
  func update(_ update: RecordUpdate, in transaction: OpenTransaction) throws -> StoredRecord {
    let table = try records.table(update.model)
    var stored = try existing(update.key, table, update.condition, update.expectedVersion)
    let key = table.key(of: stored.record)
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
      old.append((field, before))
    }
    try check(stored.record, table.shape)
    stored.version += 1
    stored.changed = transaction.at
    let change = RecordChange(
      kind: .update, model: update.model, key: key, version: stored.version, image: stored.record, old: old)
    do {
      try fold.apply(change, at: transaction.at)
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      throw StoreError(.notUnique, "another \(table.shape.name) has the same value in a unique index")
    }
    try transaction.append(.record(change))
    return stored
  }

  @discardableResult
  func delete(
    _ model: Int, _ key: RecordKey, condition: Predicate = .all, expectedVersion: Int64? = nil,
    in transaction: OpenTransaction
  ) throws -> StoredRecord {
    var deleting: Set<NamedRecord> = []
    return try delete(NamedRecord(model: model, key: key), condition, expectedVersion, transaction, &deleting)
  }

  /// A record named by model and key.
  private struct NamedRecord: Hashable {
    var model: Int
    var key: RecordKey
  }

  /// `deleting` holds the records whose deletion has begun, so that relations in a circle end.
  private func delete(
    _ named: NamedRecord, _ condition: Predicate, _ expectedVersion: Int64?, _ transaction: OpenTransaction,
    _ deleting: inout Set<NamedRecord>
  ) throws -> StoredRecord {
    let table = try records.table(named.model)
    let stored = try existing(named.key, table, condition, expectedVersion)
    let key = table.key(of: stored.record)
    deleting.insert(NamedRecord(model: named.model, key: key))
    for cascade in table.shape.cascades {
      for child in try children(of: key, cascade) {
        let child = NamedRecord(model: cascade.child, key: child)
        if !deleting.contains(child) { _ = try delete(child, .all, nil, transaction, &deleting) }
      }
    }
    let change = RecordChange(
      kind: .delete, model: named.model, key: key, version: stored.version + 1, image: stored.record)
    try fold.apply(change, at: transaction.at)
    try transaction.append(.record(change))
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
        .versionMismatch, "the \(table.shape.name) has version \(stored.version), not \(expectedVersion)",
        conflict(table, key, stored))
    }
    guard condition.matches(stored.record) else {
      throw StoreError(
        .conditionFailed, "the condition does not hold for the \(table.shape.name)", conflict(table, key, stored))
    }
    return stored
  }

  private func conflict(_ table: RecordTable, _ key: RecordKey, _ stored: StoredRecord) -> StoreError.Conflict {
    StoreError.Conflict(model: table.shape.model, key: key, version: stored.version)
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
    let table = try records.table(cascade.child)
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
