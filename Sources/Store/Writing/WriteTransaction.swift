package import MartletChangeFeed
package import MartletJSON
package import MartletModels
internal import MartletSQLite

/// What application code does its reads and writes with inside one transaction, on the writer's thread.
///
/// Reads see the transaction's own writes. An operation that throws has changed nothing; the code may continue. When
/// the code throws, all is taken back. Valid during the call only.
package final class WriteTransaction {
  private let planner: RecordPlanner
  private let open: OpenTransaction
  private let file: StoreFile
  private var database: Database { file.database }
  /// Rows that the store has read and changed; tests count with it.
  package var touchedRows: Int { database.touchedRows }
  private var trees: TreeTable { file.tree }
  private var deferred: DeferredTable { file.deferred }
  /// A failure the whole group shares, kept even when the code swallows it.
  private(set) var groupFailure: SQLiteError?

  init(_ planner: RecordPlanner, _ open: OpenTransaction, _ file: StoreFile) {
    self.file = file
    self.planner = planner
    self.open = open
  }

  /// The record with a key, if there is one.
  package func get(_ model: Int, _ key: RecordKey) throws(StoreError) -> StoredRecord? {
    try guarded(inOneStatement: true) { try planner.records.table(model).get(key) }
  }

  /// The deletion of a record that the store remembers; nil when the record exists, never did, or was deleted too long
  /// ago.
  package func tombstone(_ model: Int, _ key: RecordKey) throws(StoreError) -> Tombstone? {
    try guarded { try planner.tombstone(model, key) }
  }

  /// Adds a record.
  @discardableResult
  package func create(
    _ model: Int, _ record: Record, draft: RecordDraft? = nil
  ) throws(StoreError) -> StoredRecord {
    try guarded(inOneStatement: true) { try planner.create(model, record, draft, in: open) }
  }

  /// Adds the records of drafts, all of one model, in less time than one by one; false, and nothing is added, when a
  /// draft does not hold.
  package func create(_ drafts: [RecordDraft]) throws(StoreError) -> Bool {
    guard drafts.allSatisfy({ planner.holds($0) && $0.model == drafts[0].model }) else { return false }
    try guarded { try planner.create(drafts, in: open) }
    return true
  }

  /// Changes some fields of a record.
  @discardableResult
  package func update(_ update: RecordUpdate) throws(StoreError) -> StoredRecord {
    try guarded(inOneStatement: true) { try planner.update(update, in: open) }
  }

  /// Removes a record and the children the schema says go with it; answers what it was.
  @discardableResult
  package func delete(
    _ model: Int, _ key: RecordKey, condition: Predicate = .all, expectedVersion: Int64? = nil
  ) throws(StoreError) -> StoredRecord {
    try guarded {
      try planner.delete(model, key, condition: condition, expectedVersion: expectedVersion, in: open)
    }
  }

  /// Appends an event of the application's own to the log.
  package func publish(topic: String, payload: JSONValue) throws(StoreError) {
    try guarded(inOneStatement: true) {
      try open.reserve()
      open.append(.event(TopicEvent(topic: topic, payload: payload)))
    }
  }

  /// Calendar time of the write, in milliseconds since 1970: what the timestamp of the tree stands for.
  package var milliseconds: Int64 { open.at }

  /// The tree, with the transaction's own writes.
  package var tree: TreeReading { TreeReading(trees) }

  /// Puts a resolved value at a path of the tree; an empty one deletes.
  package func put(_ change: TreeChange) throws(StoreError) { try put([change]) }

  /// Puts the resolved values of one write of the tree at their paths. It counts as one change however many paths it
  /// has, as a write of one large value does.
  package func put(_ changes: [TreeChange]) throws(StoreError) {
    try guarded {
      try open.reserve()
      for (index, change) in changes.enumerated() {
        open.append(.tree(change), isFurther: index > 0)
        try trees.apply(change)
      }
    }
  }

  /// Runs `body` as a transaction of its own for subscribers: all of it happens, or nothing when it throws.
  package func separately(_ body: () throws -> Void) throws(StoreError) {
    try guarded {
      open.endTransaction()
      try body()
      open.endTransaction()
    }
  }

  // MARK: Writes for the end of a session

  /// What a client has left for the end of its session, in its order.
  package func deferredWrites(of owner: String) throws(StoreError) -> [DeferredWrite] {
    try guarded { try deferred.writes(of: owner) }
  }

  /// Keeps a write for the end of its owner's session, after those that are there.
  package func deferWrite(_ body: [UInt8], of owner: String) throws(StoreError) -> DeferredWrite {
    try guarded {
      let write = DeferredWrite(owner: owner, number: try deferred.last(of: owner) + 1, body: body)
      try note(.granted(write))
      return write
    }
  }

  /// Keeps other bytes for a deferred write, which keeps its place.
  package func replaceDeferred(_ write: DeferredWrite, with body: [UInt8]) throws(StoreError) {
    try guarded { try note(.granted(DeferredWrite(owner: write.owner, number: write.number, body: body))) }
  }

  /// Drops some of an owner's deferred writes, or all of them when no numbers are given.
  package func removeDeferred(of owner: String, _ numbers: [Int64] = []) throws(StoreError) {
    try guarded { try note(.removed(owner: owner, numbers: numbers)) }
  }

  private func note(_ entry: DeferredEntry) throws {
    open.append(forFold: .deferred(entry))
    try file.deferred.fold(entry)
  }

  func note(_ definition: StoredDefinition) throws(StoreError) {
    try guarded {
      open.append(forFold: .definition(definition))
      try file.definitions.fold(definition)
    }
  }

  /// A page of records, with the transaction's own writes.
  package func list(_ query: ListQuery) throws(StoreError) -> ListPage {
    try guarded { [open] in
      try database.withDeadline({ open.isExpired }) { try ListReader(planner.records, database).list(query) }
    }
  }

  /// Runs one operation, which changes nothing when it throws.
  ///
  /// - Parameter inOneStatement: Whether it changes tables by one statement at most, its last one that can be refused:
  ///   SQLite takes such a statement back by itself.
  private func guarded<Value>(
    inOneStatement: Bool = false, _ body: () throws -> Value
  ) throws(StoreError) -> Value {
    let mark = open.mark
    try open.checkTime()
    if let groupFailure { throw StoreError(groupFailure) }
    do {
      if inOneStatement { return try body() }
      // One operation is several statements when it cascades.
      try database.statement("SAVEPOINT step").run()
      let value = try body()
      try database.statement("RELEASE step").run()
      return value
    } catch {
      open.truncate(to: mark)
      let failure = error as? SQLiteError
      if let failure, failure.endsGroup {
        groupFailure = failure
      } else if groupFailure == nil, !inOneStatement {
        do {
          try database.statement("ROLLBACK TO step").run()
          try database.statement("RELEASE step").run()
        } catch {
          groupFailure = error
        }
      }
      throw failure.map { StoreError($0) } ?? (error as? StoreError) ?? StoreError(.aborted, "\(error)")
    }
  }
}

extension SQLiteError {
  /// Whether the failure is the disk's or the connection's and not one statement's: the group cannot continue.
  var endsGroup: Bool {
    switch code {
    case .unique, .constraint, .tooBig, .interrupted: false
    case .busy, .cannotOpen, .corrupt, .diskFull, .inputOutput, .notADatabase, .outOfMemory, .readOnly, .other: true
    }
  }
}
