internal import MartletChangeFeed
internal import MartletModels
internal import MartletRuntime
internal import MartletSQLite
internal import MartletVocabulary

/// A large write of creations whose records are inserted in slices, between the groups of other writes, so that none of
/// these waits for all of it.
///
/// The rows are hidden (`HiddenRows`), and the entries wait in a table of their own (`StagingTable`), until the write's
/// group: it appends the last entry to the log and shows the rows, which takes as long as a small write. Then the other
/// entries get their rows in the log, in slices; a read of the log finds them where they wait until then (`LogRows`).
///
/// Before its group the write has not happened: a later write that needs the place of one of its rows gets it, and this
/// one is run again in one piece. What a process had begun when it ended is taken back, or ended, at the next opening.
/// Confined to the writer's executor.
final class StagedWrite {
  /// The write; nil once it is committed, so that its records are let go where its completion runs, and not here.
  private(set) var write: SubmittedWrite?
  /// The time of the write's group, in milliseconds since 1970. Its rows have it from the first slice on, so that all
  /// groups until then have the same: times in the log never decrease.
  let time: Int64
  private let file: StoreFile
  private let limits: StoreLimits
  /// Creations with drafts. The write's own list, so that no record is held once more.
  private var operations: [WriteOperation]
  private var rowVersion: Int64 = 0
  /// Of the records, those that have a row.
  private var inserted = 0
  /// Their changes, whose places are not known yet, the entries of these for the log, and what the receipt says.
  private var changes: [Change] = []
  private var entries = CodedEntries()
  private var outcomes: [Receipt.Outcome] = []
  /// Of the entries, those that have their rows in the log, and the log's position after the last of them; nil while
  /// the write is not committed, and when all have.
  private var moved: (count: Int, position: LogTable.Position)?
  /// Whether it can no longer be committed from these rows.
  private(set) var isDoomed = false
  /// Whether its outcome is known. Its rows may be there still, when a full disk kept them from being removed.
  var isOver = false

  /// Nil for a write that the writer must run in one piece: a small one, one with other operations than creations, one
  /// whose records were not prepared, or one that is numbered, whose client has an order.
  init?(_ write: SubmittedWrite, _ file: StoreFile, _ limits: StoreLimits, at time: Int64) {
    guard case .batch(let operations) = write.request.operation, write.request.writeNumber == nil,
      operations.count > limits.wholeWrite, operations.count <= limits.transactionChanges
    else { return nil }
    for operation in operations {
      guard let draft = operation.draft, draft.generation == file.drafter.generation,
        draft.entry.count <= limits.recordBytes
      else { return nil }
    }
    self.write = write
    self.time = time
    self.file = file
    self.limits = limits
    self.operations = operations
    changes.reserveCapacity(operations.count)
    entries.reserve(operations.count)
    outcomes.reserveCapacity(operations.count)
  }

  /// Whether every record has its row.
  var isInserted: Bool { inserted == operations.count }

  /// Takes its number, from which on readers look for it.
  func begin() throws(StoreError) {
    file.stagings.withLock { $0.begin() }
    do throws(StoreError) {
      let number = try file.transaction { try StagingTable.begin(file.database) }
      rowVersion = HiddenRows.version(of: number)
      file.hidden.hide(number) { [self] in  // until it shows all rows
        isDoomed = true
        try removeRows()
      }
    } catch {
      file.stagings.withLock { $0.end() }
      throw error
    }
  }

  /// Inserts a slice of the records.
  ///
  /// - Throws: what failed; nothing was inserted then. When the write has to be run in one piece, which finds the
  ///   reason, it is doomed and nothing is thrown.
  func insertSlice() throws(StoreError) {
    let end = min(inserted + max(1, limits.stagedRows), operations.count)
    let slice = operations[inserted..<end].compactMap(\.draft)
    do throws(StoreError) {
      // Durable, although nothing is acknowledged: a thread that waits for the disk leaves its processor to others, and
      // the group has little left to write.
      try file.transaction {
        try insert(slice[...])
        try StagingTable.keep(slice[...], from: inserted, file.database)
        try file.sweep(beside: slice.count, slice.reduce(0) { $0 + Int64($1.entry.count) }, limits)
      }
    } catch {
      isDoomed = true
      if error.code == .aborted { return }
      throw error
    }
    inserted = end
    for draft in slice {
      let body = Change.Body.record(
        RecordChange(kind: .create, model: draft.model, key: draft.key, version: 1, image: draft.record))
      changes.append(Change(offset: 0, endsTransaction: false, body: body, time: time))
      entries.append(draft.entry)
      outcomes.append(Receipt.Outcome(of: body))
    }
    if isInserted { entries.markEnd() }
  }

  private func insert(_ slice: ArraySlice<RecordDraft>) throws {
    var rest = slice
    while let first = rest.first {
      let table = try file.records.records.table(first.model)
      let part = rest.prefix(table.rowsAtOnce).prefix { $0.model == first.model }
      rest = rest.dropFirst(part.count)
      for draft in part {
        // The version of such a record is not 1.
        let version = try file.tombstones.version(table.storedNumber, draft.key, file.folded.horizon)
        guard version == nil else { throw Self.inOnePiece }
      }
      let rows = part.map { StoredRecord(record: $0.record, version: rowVersion, created: time, changed: time) }
      do {
        if rows.count == table.rowsAtOnce {
          try table.insert(all: rows)
        } else {
          for row in rows { try table.insert(row) }
        }
      } catch {
        guard (error as? SQLiteError)?.endsGroup == false else { throw error }
        throw Self.inOnePiece
      }
    }
  }

  private static var inOnePiece: StoreError { StoreError(.aborted, "the write has to be run in one piece") }

  /// Gives the write's changes and entries to its group, and returns the receipt's outcomes. The group shows the rows.
  func complete(_ group: inout GroupBuilder) -> [Receipt.Outcome] {
    var (placed, said): ([Change], [Receipt.Outcome]) = ([], [])
    swap(&placed, &changes)
    swap(&said, &outcomes)
    group.begin(with: consume placed, entries: entries)
    return said
  }

  /// The write's own group is durable: its rows are seen, and its entries get theirs.
  func hasCommitted() {
    file.hidden.show()
    (write, operations) = (nil, [])
    guard let span = file.log.span else { return }
    var position = LogTable.Position()
    (position.total, position.checksum) = (span.totalBefore, span.checksumBefore)
    moved = (0, position)
  }

  // MARK: After the group

  /// Whether the write is committed and entries of it have no rows yet.
  var isMoving: Bool { moved != nil }

  /// Whether the last slice of entries got no rows: the disk is full. Later writes do not wait for it.
  private(set) var isStuck = false

  /// Gives a slice of the entries their rows in the log.
  func move() throws(StoreError) {
    guard let (count, before) = moved, let span = file.log.span else { return moved = nil }
    // The last one has its row.
    let end = min(count + max(1, limits.stagedRows), entries.count - 1)
    isStuck = true
    let position = try file.transaction {
      var position = before
      try file.log.fill(span, entries, from: count, count..<end, &position)
      if end == entries.count - 1 { try StagingTable.end(file.database) }
      return position
    }
    isStuck = false
    guard end == entries.count - 1 else { return moved = (end, position) }
    moved = nil
    file.log.span = nil
    file.stagings.withLock { $0.end() }
  }

  // MARK: Giving up

  private func hasEnded() {
    file.hidden.show()
    file.stagings.withLock { $0.end() }
  }

  /// Takes the rows back.
  func withdraw() throws(StoreError) {
    isDoomed = true
    try file.transaction {
      try removeRows()
      try StagingTable.end(file.database)
    }
    // They are looked for once: by the next time, a migration may have put other tables in their place.
    inserted = 0
    hasEnded()
  }

  private func removeRows() throws {
    for draft in operations[..<inserted].lazy.compactMap(\.draft) {
      try file.records.records.table(draft.model).delete(draft.key, ofVersion: rowVersion)
    }
  }
}

/// Counts the writes that were inserted in slices, so that a reader knows whether its snapshot can have hidden rows.
struct Stagings: Equatable {
  private var begun: UInt64 = 0
  private(set) var isPending = false

  mutating func begin() {
    begun += 1
    isPending = true
  }

  mutating func end() { isPending = false }
}
