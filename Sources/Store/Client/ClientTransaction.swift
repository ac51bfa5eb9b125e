internal import MartletJSON
package import MartletLiveQueries
package import MartletModels
internal import MartletSQLite
package import MartletSyncEngine

/// One transaction of a client's store. Confined to the writer's thread, and to its closure.
package final class ClientTransaction {
  private let known: TransactionRows
  private let constraints: ClientConstraints
  private let syncs: Bool
  /// Whether the file's models have fields that this process does not have.
  private let lacksFields: Bool
  /// The number of the next write, once it has been read; written at the end.
  private var number: Int64?
  private var isNumberTaken = false
  /// This client's wall clock in milliseconds, for what is refused; 0 where the caller gives none.
  package var time: Int64 = 0
  private var outbox: [QueuedWrite] = []
  private var letters: [DeadLetter] = []
  private var cancelled: [ClientWriter.CancelledWrite] = []
  private var isCleared = false
  private var numbers: [Int64] = []

  init(
    _ tables: ClientTables, _ records: Records, _ queries: ClientQueries, _ constraints: ClientConstraints, syncs: Bool,
    lacksFields: Bool = false
  ) {
    self.lacksFields = lacksFields
    self.constraints = constraints
    self.syncs = syncs
    known = TransactionRows(tables, records, queries, syncs: syncs)
  }

  var records: Records { known.records }

  /// The tables beside those of the records, with everything that the transaction has written.
  var tables: ClientTables { get throws { try known.tables } }

  /// What the transaction did so far.
  var commit: ClientWriter.Commit {
    get throws {
      var commit = ClientWriter.Commit(outbox: outbox, letters: letters)
      commit.cancelled = cancelled
      commit.isCleared = isCleared
      commit.numbers = numbers
      if isNumberTaken, let number { try tables.set("nextNumber", String(number)) }
      isNumberTaken = false
      try known.write()
      commit.changes = try known.changes
      return commit
    }
  }

  /// Whether it has given the outbox a write.
  package var isQueueing: Bool { outbox.contains { if case .added = $0 { true } else { false } } }

  // MARK: Local writes

  /// The record with a key, as the transaction has it.
  package func row(model: Int, _ key: RecordKey) throws -> LiveRow? {
    let table = try records.table(model)
    return try known.current(table, key).map { known.row($0, table) }
  }

  /// The rows that a query asks for, as the transaction has them.
  package func rows(_ query: WindowQuery, _ request: WindowRequest) throws -> WindowRows {
    try known.queries.rows(query, request) { _ in }
  }

  /// Creates or updates a record.
  ///
  /// - Parameter form: a stored record as the caller's type has it and would write it back; nil for as it is.
  /// - Throws: `conditionFailed` when there is a condition and it does not hold for the record as it is, or there is
  ///   none; `invalid` for a condition that the server cannot be asked for.
  ///   `notUnique` or `referenced` when a relation of the model forbids the record.
  package func save(
    model: Int, _ record: Record, where condition: Predicate? = nil, related: RelatedTerms = RelatedTerms(),
    form: (Record) -> Record? = { _ in nil }
  ) throws {
    let table = try records.table(model)
    var record = record
    table.shape.normalize(&record)
    let key = table.shape.key(of: record)
    try check(condition, related, table, key)
    let isNew = try known.isNew(table, key)
    if constraints.concern(model) {
      try constraints.check(record, before: try known.note(table, key)?.record, table, records, known.queries)
    }
    if isNew { return try create(record, table, key) }
    try store(record, table, key, related.conditions.isEmpty ? condition : nil, form)
  }

  /// Creates a record of which the store has nothing.
  private func create(_ record: Record, _ table: RecordTable, _ key: RecordKey) throws {
    let stored = StoredRecord(record: record, version: syncs ? 0 : 1, created: syncs ? 1 : 0, changed: 0)
    guard syncs else { return try known.insert(stored, table, key) }
    let write = PendingWrite(number: try nextNumber, content: .create(record))
    try known.insert(stored, table, key, write)
    takeNumbers(1)
    outbox.append(.added(number: write.number, model: table.shape.model))
    numbers.append(write.number)
  }

  /// Stores a record. The server is not asked for a condition over relations, which only this client can evaluate.
  private func store(
    _ record: Record, _ table: RecordTable, _ key: RecordKey, _ condition: Predicate?,
    _ form: (Record) -> Record? = { _ in nil }
  ) throws {
    guard syncs else { return try put(record, table, key) }
    try change(table, key) { replica, number in
      try replica.save(record, number: number, condition: condition) { stored in
        guard var record = form(stored) else { return nil }
        table.shape.normalize(&record)
        return record
      }
    }
  }

  /// Deletes a record, before it the records of other models that go with it, and before these theirs. Returns whether
  /// it was there.
  ///
  /// - Throws: `conditionFailed`; `referenced` when a relation keeps records that have others; `tooManyRows`.
  package func delete(
    model: Int, _ key: RecordKey, where condition: Predicate? = nil, related: RelatedTerms = RelatedTerms()
  ) throws -> Bool {
    let table = try records.table(model)
    guard let stored = try known.current(table, key) else { return false }
    try check(condition, related, table, key)
    var family = ClientCascade(records, try known.queries)
    try family.collect(table, key, stored.record)
    for orphan in family.cleared {
      try store(orphan.record, orphan.table, orphan.table.shape.key(of: orphan.record), nil)
    }
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
      guard try known.note(table, key) != nil else { return }
      try known.write()
      _ = try table.delete(key)
      known.set(nil, table, key)
    }
  }

  private func check(
    _ condition: Predicate?, _ related: RelatedTerms, _ table: RecordTable, _ key: RecordKey
  ) throws {
    guard let condition else { return }
    if syncs, related.conditions.isEmpty { try StoredCondition(table.shape).check(condition) }
    guard let stored = try known.current(table, key),
      try known.queries.present.matches(condition, stored.record, related, .after)
    else {
      throw StoreError(.conditionFailed, "the condition does not hold for this record of \(table.shape.name)")
    }
  }

  private func put(_ record: Record, _ table: RecordTable, _ key: RecordKey) throws {
    let stored = try known.note(table, key)
    try known.write()
    let written = StoredRecord(record: record, version: (stored?.version ?? 0) + 1, created: 0, changed: 0)
    if stored == nil { try table.insert(written) } else { try table.replace(written) }
    known.set(written, table, key)
  }

  func change(
    _ table: RecordTable, _ key: RecordKey, _ body: (inout RecordReplica, Int64) throws -> RecordReplica.Enqueued?
  ) throws {
    let number = try nextNumber
    var enqueued: RecordReplica.Enqueued?
    var waiting: Int64?
    try update(table, key) { replica in
      enqueued = try body(&replica, number)
      waiting = replica.pending.last?.number
    }
    // Nothing is changed: the server has the record as it is once it has what waits.
    guard let enqueued else { return numbers.append(waiting ?? ClientWriter.Commit.unchanged) }
    takeNumbers(1)
    switch enqueued {
    case .added:
      outbox.append(.added(number: number, model: table.shape.model))
      numbers.append(number)
    case .merged(let earlier): numbers.append(earlier)
    case .cancelled(let earlier):
      outbox.append(.removed(earlier))
      cancelled += earlier.map { .init(number: $0, model: table.shape.model, key: key) }
      numbers.append(0)
    }
  }

  /// The number of the next write.
  var nextNumber: Int64 {
    get throws {
      if let number { return number }
      let found = Int64(try known.value("nextNumber") ?? "1") ?? 1
      number = found
      return found
    }
  }

  /// The next `count` numbers are used.
  func takeNumbers(_ count: Int) {
    number = number.map { $0 + Int64(count) }
    isNumberTaken = true
  }

  // MARK: The server's answers

  /// Takes changes of the server and returns those that were taken: one that is not newer than what is stored, as that
  /// of a write that has been acknowledged, changes nothing.
  @discardableResult
  package func receive(_ changes: [RemoteChange]) throws -> [RemoteChange] {
    var taken: [RemoteChange] = []
    try receive(changes) { taken.append($0) }
    return taken
  }

  /// - Parameter taken: called with each change that was taken.
  func receive(_ changes: [RemoteChange], _ taken: (RemoteChange) -> Void) throws {
    known.expect(changes.count)
    for change in changes {
      let table = try records.table(change.model)
      if var record = change.image.record, change.changed == nil, try known.isNew(table, change.key) {
        table.shape.normalize(&record)
        let stored = StoredRecord(
          record: record, version: change.image.version, created: 0, changed: change.image.position)
        try known.insert(stored, table, change.key)
        taken(change)
      } else {
        var isTaken = false
        try update(table, change.key) { isTaken = $0.receive(change) }
        if isTaken { taken(change) }
      }
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
    if !others.isEmpty { outbox.append(.refused(others, with: number)) }
  }

  /// Stores a named value in the same transaction: cursors and progress.
  package func set(_ name: String, _ value: String) throws { try tables.set(name, value) }

  /// Deletes rows, images, outbox and named values.
  package func clear() throws {
    for table in records.tables { try tables.database.execute("DELETE FROM \(table.shape.table)") }
    let next = try tables.value("nextNumber")
    try tables.clear()
    if syncs { try tables.set(ClientTables.synced, "1") }
    // No number is used again: an answer to an earlier write is never taken for one to a later write.
    if let next { try tables.set("nextNumber", next) }
    number = nil
    known.forget()
    isCleared = true
  }

  // MARK: Rows

  /// Reads a record with its image and its writes, changes it, and writes what differs.
  func update(_ table: RecordTable, _ key: RecordKey, _ body: (inout RecordReplica) throws -> Void) throws {
    let shape = table.shape
    let tables = try tables
    let isFirst = !known.hasMet(table, key)
    let stored = try known.note(table, key)
    // Beside a row that comes from the server alone nothing is kept.
    let isAlone = try stored?.created == 0 || (stored == nil && isFirst && !known.hidesRecords)
    let pending = isAlone ? [] : try tables.pending(shape, key)
    let image = isAlone ? nil : try tables.image(shape, key, row: { stored })
    var server = image
    if pending.isEmpty, server == nil, let stored {
      server = ServerImage(record: stored.record, version: stored.version, position: stored.changed)
    }
    var old = RecordReplica(server: server, pending: pending)
    // What other processes have written stays as it is where it can have fields that this one lacks.
    old.mergesWrites = !lacksFields
    var new = old
    try body(&new)
    if new == old { return }
    for write in old.pending where !new.pending.contains(where: { $0.number == write.number }) {
      try tables.removeWrite(write.number)
    }
    for write in new.pending where !old.pending.contains(write) { try tables.put(write, shape, key) }
    // The image is the row itself unless writes are pending; a deletion is remembered by its position.
    let kept = new.pending.isEmpty && new.server?.record != nil ? nil : new.server
    if kept != image { try tables.put(kept, shape, key) }
    guard var visible = new.visible else {
      if stored != nil { _ = try table.delete(key) }
      return known.set(nil, table, key)
    }
    table.shape.normalize(&visible)
    let written = StoredRecord(
      record: visible, version: new.server?.version ?? 0, created: new.pending.isEmpty ? 0 : 1,
      changed: new.server?.position ?? 0)
    if written == stored { return }
    if stored == nil { try table.insert(written) } else { try table.replace(written) }
    known.set(written, table, key)
  }
}
