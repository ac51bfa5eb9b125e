internal import MartletChangeFeed
internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// Decides what a write does to records: conditions, versions, conflicts, cascades, and the change each step appends.
/// Confined to the connection's thread.
final class RecordPlanner {
  private let fold: RecordFold
  /// Names the catalogue that is in force, for drafts.
  private let generation: Int
  /// What has expired, as of the group in progress.
  private let horizon: () -> Horizon

  init(_ file: StoreFile) {
    fold = file.records
    generation = file.drafter.generation
    horizon = { file.folded.horizon }
  }

  var records: Records { fold.records }

  /// The deletion of a record that the store remembers.
  func tombstone(_ model: Int, _ key: RecordKey) throws -> Tombstone? {
    try fold.tombstone(try records.table(model).shape.storedNumber, key, horizon())
  }

  /// Adds a record, by its draft if that was made under the catalogue that is in force.
  @discardableResult
  func create(
    _ model: Int, _ record: Record, _ draft: RecordDraft? = nil, in transaction: OpenTransaction
  ) throws -> StoredRecord {
    let table = try records.table(model)
    let draft = draft.flatMap { holds($0) && $0.model == model ? $0 : nil }
    let record = try draft?.record ?? table.completed(record)
    let key = draft?.key ?? table.key(of: record)
    // A key that existed before keeps counting, so that no version names two states of one key.
    let version = try fold.tombstones.version(table.storedNumber, key, horizon()).map { $0 + 1 } ?? 1
    let change = RecordChange(kind: .create, model: model, key: key, version: version, image: record)
    try transaction.reserve()
    do {
      try fold.apply(change, at: transaction.at)
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      if let stored = try table.get(key) {
        throw StoreError(
          .alreadyExists, "a \(table.shape.name) with this key exists already", conflict(table, key, stored))
      }
      throw try notUnique(table, key, record)
    }
    transaction.append(.record(change), entry: version == 1 ? draft?.entry : nil)
    return StoredRecord(record: record, version: version, created: transaction.at, changed: transaction.at)
  }

  /// Whether a draft was made under the catalogue that is in force.
  func holds(_ draft: RecordDraft) -> Bool { draft.generation == generation }

  /// How many of the first operations `create(_:in:)` takes together: creations in one model, whose drafts hold.
  func countTogether(_ operations: ArraySlice<WriteOperation>) -> Int {
    guard case .create(let model, _, _)? = operations.first else { return 0 }
    return operations.prefix {
      guard case .create(_, _, let draft?) = $0 else { return false }
      return holds(draft) && draft.model == model
    }.count
  }

  /// Adds the records of drafts that hold and are of one model, several by one statement.
  func create(_ drafts: [RecordDraft], in transaction: OpenTransaction) throws {
    guard let first = drafts.first else { return }
    let table = try records.table(first.model)
    var rest = drafts[...]
    while rest.count >= table.rowsAtOnce {
      let part = rest.prefix(table.rowsAtOnce)
      rest = rest.dropFirst(part.count)
      if try !createAtOnce(part, table, transaction) {
        // One by one, which finds the record that is refused and names the reason.
        for draft in part { try create(draft.model, draft.record, draft, in: transaction) }
      }
    }
    for draft in rest { try create(draft.model, draft.record, draft, in: transaction) }
  }

  /// Adds as many records as one statement takes; false when one of them was refused, and none was added.
  private func createAtOnce(
    _ drafts: ArraySlice<RecordDraft>, _ table: RecordTable, _ transaction: OpenTransaction
  ) throws -> Bool {
    try transaction.reserve(drafts.count)
    let (model, horizon) = (table.shape.storedNumber, horizon())
    let changes = try drafts.map { draft in
      let version = try fold.tombstones.version(model, draft.key, horizon).map { $0 + 1 } ?? 1
      return RecordChange(
        kind: .create, model: draft.model, key: draft.key, version: version, image: draft.record)
    }
    do {
      try fold.apply(creations: changes, of: table, at: transaction.at)
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      return false
    }
    for (draft, change) in zip(drafts, changes) {
      transaction.append(.record(change), entry: change.version == 1 ? draft.entry : nil)
    }
    return true
  }

  @discardableResult
  func update(_ update: RecordUpdate, in transaction: OpenTransaction) throws -> StoredRecord {
    let table = try records.table(update.model)
    var stored = try existing(update.key, table, update.condition, update.expectedVersion)
    let key = table.shape.key(of: stored.record)
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
    try table.shape.check(stored.record)
    try transaction.reserve()
    stored.version += 1
    stored.changed = transaction.at
    let change = RecordChange(
      kind: .update, model: update.model, key: key, version: stored.version, image: stored.record, old: old)
    do {
      try fold.apply(change, at: transaction.at)
    } catch {
      guard (error as? SQLiteError)?.code == .unique else { throw error }
      throw try notUnique(table, key, stored.record)
    }
    transaction.append(.record(change))
    return stored
  }

  @discardableResult
  func delete(
    _ model: Int, _ key: RecordKey, condition: Predicate = .all, expectedVersion: Int64? = nil,
    in transaction: OpenTransaction
  ) throws -> StoredRecord {
    let table = try records.table(model)
    let stored = try existing(key, table, condition, expectedVersion)
    if table.shape.cascades.isEmpty {
      try remove(table, stored, transaction, isCascade: false)
    } else {
      var cascade = Cascade(self, transaction)
      try cascade.delete(table, stored)
    }
    return stored
  }

  /// Deletes one record, which is there as `stored`.
  func remove(
    _ table: RecordTable, _ stored: StoredRecord, _ transaction: OpenTransaction, isCascade: Bool
  ) throws {
    let change = RecordChange(
      kind: .delete, model: table.shape.model, key: table.shape.key(of: stored.record), version: stored.version + 1,
      image: stored.record)
    try transaction.reserve(isCascade: isCascade)
    try fold.apply(change, at: transaction.at)
    transaction.append(.record(change), isCascade: isCascade)
  }

  /// Sets fields of a record to null.
  func clear(_ fields: [Int], _ table: RecordTable, _ stored: StoredRecord, _ transaction: OpenTransaction) throws {
    var record = stored.record
    var old: [(field: Int, value: JSONValue)] = []
    for field in fields where !record.values[field].isNull {
      old.append((field, record.values[field]))
      record.values[field] = .null
    }
    let change = RecordChange(
      kind: .update, model: table.shape.model, key: table.shape.key(of: record), version: stored.version + 1,
      image: record,
      old: old)
    try transaction.reserve(isCascade: true)
    try fold.apply(change, at: transaction.at)
    transaction.append(.record(change), isCascade: true)
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

  /// The error for a value that a unique index holds already, which names both records.
  private func notUnique(_ table: RecordTable, _ key: RecordKey, _ record: Record) throws -> StoreError {
    let shape = table.shape
    for index in shape.indexes where index.isUnique && !index.fields.contains(where: { record.values[$0].isNull }) {
      let condition = index.fields.map { "\(shape.column($0)) = ?" }.joined(separator: " AND ")
      let rows = try table.select(
        "SELECT \(table.columns) FROM \(shape.table) WHERE \(condition)\(table.hidden.and())")
      defer { rows.reset() }
      for (position, field) in index.fields.enumerated() {
        try shape.columns[field].storage.bind(record.values[field], to: rows, at: position + 1)
      }
      while try rows.step() {
        let other = try table.row(rows)
        let otherKey = table.shape.key(of: other.record)
        if otherKey == key { continue }
        let names = index.fields.map { shape.columns[$0].field }.joined(separator: ", ")
        let reason = index.relation.map { "@hasOne of \($0)" } ?? "a unique index"
        return StoreError(
          .notUnique,
          "\(shape.describe(key)) and \(shape.describe(otherKey)) would have the same \(names), which \(reason) forbids",
          conflict(table, otherKey, other))
      }
    }
    return StoreError(.notUnique, "another \(shape.name) has the same value in a unique index")
  }
}
