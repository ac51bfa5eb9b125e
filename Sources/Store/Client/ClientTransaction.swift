internal import MartletJSON
package import MartletLiveQueries
package import MartletModels
internal import MartletSQLite
package import MartletSyncEngine

/// One transaction of a client's store. Confined to the writer's thread, and to its closure.
package final class ClientTransaction {
  let tables: ClientTables
  let records: Records
  private let queries: ClientQueries
  private let constraints: ClientConstraints
  private let syncs: Bool
  /// By record: the row before the transaction.
  private var before: [Name: LiveRow?] = [:]
  private var order: [Name] = []
  /// This client's wall clock in milliseconds, for what is refused; 0 where the caller gives none.
  package var time: Int64 = 0
  private var outbox: [QueuedWrite] = []
  private var letters: [DeadLetter] = []
  private var isCleared = false
  private var numbers: [Int64] = []

  private struct Name: Hashable {
    var model: Int
    var key: RecordKey
  }

  init(
    _ tables: ClientTables, _ records: Records, _ queries: ClientQueries, _ constraints: ClientConstraints, syncs: Bool
  ) {
    self.constraints = constraints
    self.tables = tables
    self.records = records
    self.queries = queries
    self.syncs = syncs
  }

  /// What the transaction did so far.
  var commit: ClientWriter.Commit {
    get throws {
      var commit = ClientWriter.Commit(outbox: outbox, letters: letters)
      commit.isCleared = isCleared
      commit.numbers = numbers
      for name in order {
        let table = try records.table(name.model)
        let after = try table.get(name.key).map { try queries.row($0, table) }
        let change = RowChange(model: name.model, before: before[name] ?? nil, after: after)
        if change.before != change.after { commit.changes.append(change) }
      }
      return commit
    }
  }

  // MARK: Local writes

  /// The record with a key, as the transaction has it.
  package func row(model: Int, _ key: RecordKey) throws -> LiveRow? {
    let table = try records.table(model)
    return try table.get(key).map { try queries.row($0, table) }
  }

  /// The rows that a query asks for, as the transaction has them.
  package func rows(_ query: WindowQuery, _ request: WindowRequest) throws -> WindowRows {
    try queries.rows(query, request)
  }

  /// Creates or updates a record.
  ///
  /// - Throws: `conditionFailed` when there is a condition and it does not hold for the record as it is, or there is
  ///   none.
  ///   `notUnique` or `referenced` when a relation of the model forbids the record.
  package func save(
    model: Int, _ record: Record, where condition: Predicate? = nil, related: RelatedTerms = RelatedTerms()
  ) throws {
    let table = try records.table(model)
    var record = record
    table.normalize(&record)
    let key = table.key(of: record)
    try check(condition, related, table, key)
    try constraints.check(record, before: try table.get(key)?.record, table, records, queries)
    try store(record, table, key, related.conditions.isEmpty ? condition : nil)
  }

  /// Stores a record. The server is not asked for a condition over relations, which only this client can evaluate.
  private func store(_ record: Record, _ table: RecordTable, _ key: RecordKey, _ condition: Predicate?) throws {
    guard syncs else { return try put(record, table, key) }
    try change(table, key) { replica, number in try replica.save(record, number: number, condition: condition) }
  }

  /// Deletes a record, before it the records of other models that go with it, and before these theirs. Returns whether
  /// it was there.
  ///
  /// - Throws: `conditionFailed`; `referenced` when a relation keeps records that have others; `tooManyRows`.
  package func delete(
    model: Int, _ key: RecordKey, where condition: Predicate? = nil, related: RelatedTerms = RelatedTerms()
  ) throws -> Bool {
    let table = try records.table(model)
    guard let stored = try table.get(key) else { return false }
    try check(condition, related, table, key)
    var family = ClientCascade(records, queries)
    try family.collect(table, key, stored.record)
    for orphan in family.cleared { try store(orphan.record, orphan.table, orphan.table.key(of: orphan.record), nil) }
    for child in family.deleted where child.key != key || child.table !== table {
      try remove(child.table, child.key, nil)
    }
    try remove(table, key, related.conditions.isEmpty ? condition : nil)
    return true
  }

  private func remove(_ table: RecordTable, _ key: RecordKey, _ condition: Predicate?) throws {
    if syncs {
      try change(table, key) { replica, number in
        try replica.write(PendingWrite(number: number, content: .delete, condition: condition))
      }
    } else {
      try note(table, key)
      _ = try table.delete(key)
    }
  }

  private func check(
    _ condition: Predicate?, _ related: RelatedTerms, _ table: RecordTable, _ key: RecordKey
  ) throws {
    guard let condition else { return }
    guard let stored = try table.get(key),
      try queries.present.matches(condition, stored.record, related, .after)
    else {
      throw StoreError(.conditionFailed, "the condition does not hold for this record of \(table.shape.name)")
    }
  }

  private func put(_ record: Record, _ table: RecordTable, _ key: RecordKey) throws {
    try note(table, key)
    let version = try table.get(key)?.version ?? 0
    _ = try table.delete(key)
    try table.insert(StoredRecord(record: record, version: version + 1, created: 0, changed: 0))
  }

  private func change(
    _ table: RecordTable, _ key: RecordKey, _ body: (inout RecordReplica, Int64) throws -> RecordReplica.Enqueued?
  ) throws {
    let number = Int64(try tables.value("nextNumber") ?? "1") ?? 1
    var enqueued: RecordReplica.Enqueued?
    try update(table, key) { replica in enqueued = try body(&replica, number) }
    guard let enqueued else { return numbers.append(0) }
    try tables.set("nextNumber", String(number + 1))
    switch enqueued {
    case .added:
      outbox.append(.added(number: number, model: table.shape.model))
      numbers.append(number)
    case .merged(let earlier): numbers.append(earlier)
    case .cancelled(let cancelled):
      outbox.append(.removed(cancelled))
      numbers.append(0)
    }
  }

  // MARK: The server's answers

  /// Takes changes of the server. Those that are not newer than what is stored change nothing.
  package func receive(_ changes: [RemoteChange]) throws {
    for change in changes {
      try update(try records.table(change.model), change.key) { $0.receive(change) }
    }
  }

  /// Marks a write as sent and returns it; nil when it is no longer there.
  package func send(model: Int, _ key: RecordKey, _ number: Int64) throws -> PendingWrite? {
    var write: PendingWrite?
    try update(try records.table(model), key) { replica in
      replica.send(number)
      write = replica.pending.first { $0.number == number }
    }
    return write
  }

  /// The server has applied a write.
  package func acknowledge(model: Int, _ key: RecordKey, _ number: Int64, _ image: ServerImage?) throws {
    try update(try records.table(model), key) { $0.acknowledge(number, image) }
  }

  /// The server has refused a write for good.
  package func reject(model: Int, _ key: RecordKey, _ number: Int64, _ reason: DeadLetter.Reason) throws {
    var refused: [DeadLetter] = []
    try update(try records.table(model), key) { refused = $0.reject(number, reason) }
    try bury(refused, model, key, except: number)
  }

  /// Keeps refused writes. The engine knows of the one with `number`.
  func bury(_ refused: [DeadLetter], _ model: Int, _ key: RecordKey, except number: Int64) throws {
    let shape = try records.table(model).shape
    for letter in refused { try tables.keep(letter, shape, key, at: time) }
    letters += refused
    let others = refused.map(\.write.number).filter { $0 != number }
    if !others.isEmpty { outbox.append(.removed(others)) }
  }

  /// Stores a named value in the same transaction: cursors and progress.
  package func set(_ name: String, _ value: String) throws { try tables.set(name, value) }

  /// Deletes rows, images, outbox and named values.
  package func clear() throws {
    for table in records.tables { try tables.database.execute("DELETE FROM \(table.shape.table)") }
    try tables.clear()
    isCleared = true
  }

  // MARK: Rows

  private func note(_ table: RecordTable, _ key: RecordKey) throws {
    let name = Name(model: table.shape.model, key: key)
    guard before[name] == nil else { return }
    before[name] = .some(try table.get(key).map { try queries.row($0, table) })
    order.append(name)
  }

  /// Reads a record with its image and its writes, changes it, and writes what differs.
  func update(_ table: RecordTable, _ key: RecordKey, _ body: (inout RecordReplica) throws -> Void) throws {
    try note(table, key)
    let shape = table.shape
    let stored = try table.get(key)
    let pending = try tables.pending(shape, key)
    var server = try tables.image(shape, key)
    if pending.isEmpty, server == nil, let stored {
      server = ServerImage(record: stored.record, version: stored.version, position: stored.changed)
    }
    let old = RecordReplica(server: server, pending: pending)
    var new = old
    try body(&new)
    for write in old.pending where !new.pending.contains(where: { $0.number == write.number }) {
      try tables.removeWrite(write.number)
    }
    for write in new.pending where !old.pending.contains(write) { try tables.put(write, shape, key) }
    // The image is the row itself unless writes are pending; a deletion is remembered by its position.
    let keepsImage = !new.pending.isEmpty || new.server?.record == nil
    try tables.put(keepsImage ? new.server : nil, shape, key)
    if stored != nil { _ = try table.delete(key) }
    guard var visible = new.visible else { return }
    table.normalize(&visible)
    try table.insert(
      StoredRecord(
        record: visible, version: new.server?.version ?? 0, created: new.pending.isEmpty ? 0 : 1,
        changed: new.server?.position ?? 0))
  }
}
