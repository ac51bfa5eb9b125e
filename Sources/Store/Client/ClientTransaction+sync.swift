internal import MartletJSON
internal import MartletLiveQueries
package import MartletModels
internal import MartletSQLite
package import MartletSyncEngine

/// What the sync engine asks of a client's store.
extension ClientTransaction {
  // MARK: Full syncs

  /// Begins to note which rows the pages of a full sync have. Of a model without rows nothing is noted: what it has at
  /// the end are the pages' rows, and what was written or has changed since they were read.
  package func beginFullSync(model: Int) throws {
    let (table, tables) = (try records.table(model), try tables)
    try tables.forgetSeen(table.shape)
    try tables.noteSeen(table.shape, try table.hasRows() || tables.showsImages(table.shape))
  }

  /// Applies a page, and notes its rows.
  package func receivePage(_ changes: [RemoteChange]) throws {
    for model in Set(changes.lazy.map(\.model)) { try see(model, changes.lazy.filter { $0.model == model }.map(\.key)) }
    try receive(changes) { _ in }
  }

  /// Notes rows of which the server has said that it has them.
  package func see(_ model: Int, _ keys: some Sequence<RecordKey>) throws {
    try tables.see(try records.table(model).shape, keys)
  }

  /// Removes the rows of a model whose image is not newer than `position` and that no page of the full sync had.
  /// `Int64.max` stands for a server without positions: all rows that no page had are removed.
  package func sweep(model: Int, before position: Int64) throws {
    let (table, tables) = (try records.table(model), try tables)
    guard try tables.notesSeen(table.shape) else { return }
    // A row that has no image of its own is the server's.
    var unseen = try tables.shownImages(table.shape).filter { try !tables.hasSeen(table.shape, $0) }
    try table.forEachKey(where: "\(SQLText.created) = 0") { key in
      if try !tables.hasSeen(table.shape, key) { unseen.append(key) }
    }
    for key in unseen {
      try update(table, key) { _ = $0.sweep(at: position == .max ? $0.server?.position ?? 0 : position) }
    }
    try tables.forgetSeen(table.shape)
  }

  /// Forgets where the server's log had each image, so that whatever the server sends next is newer.
  package func forgetPositions() throws {
    let tables = try tables
    for table in records.tables {
      try tables.database.execute("UPDATE \(table.shape.table) SET \(SQLText.changed) = 0")
    }
    try tables.database.execute("UPDATE martlet_client_images SET position = 0")
  }

  // MARK: Conflicts

  /// Carries out the application's answer to a conflict. A write that is made again gets a new number, and so do later
  /// writes of its record, which come after it. Returns the old and new numbers, the write's own first; none when it
  /// has ended.
  package func resolve(
    model: Int, _ key: RecordKey, _ number: Int64, _ resolution: RecordReplica.Resolution, _ image: ServerImage
  ) throws -> [(old: Int64, new: Int64)] {
    var letters: [DeadLetter] = []
    var renumbered: [(old: Int64, new: Int64)] = []
    let next = try nextNumber
    try update(try records.table(model), key) { replica in
      letters = replica.resolve(number, resolution, image, newNumber: next)
      guard let place = replica.pending.firstIndex(where: { $0.number == next }) else { return }
      renumbered.append((number, next))
      for write in replica.pending[(place + 1)...] {
        let new = next + Int64(renumbered.count)
        replica.renumber(write.number, new)
        renumbered.append((write.number, new))
      }
    }
    takeNumbers(renumbered.count)
    try bury(letters, model, key, except: number)
    return renumbered
  }
}

extension ClientWriter {
  /// The name of the value that says how far a model has been synced.
  package static func progressName(_ shape: RecordShape) -> String { ClientTables.progressName(shape) }

  /// The refused writes, in order.
  package func letters() throws(StoreError) -> [StoredLetter] {
    do { return try tables.letters(records) } catch { throw Self.storeError(error) }
  }

  /// A named value of the store: cursors, progress, this client's name.
  package func value(_ name: String) throws(StoreError) -> String? {
    do { return try tables.value(name) } catch { throw Self.storeError(error) }
  }

  /// The version and position of the server's image of a record; nil when the server has none.
  package func image(model: Int, _ key: RecordKey) throws(StoreError) -> ServerImage? {
    do {
      let table = try records.table(model)
      if let image = try tables.image(table.shape, key, row: { try table.get(key) }) { return image }
      guard try tables.pending(table.shape, key).isEmpty, let stored = try table.get(key) else { return nil }
      return ServerImage(record: stored.record, version: stored.version, position: stored.changed)
    } catch {
      throw Self.storeError(error)
    }
  }

  /// The model and key of a pending write; nil when it is no longer there.
  package func place(of number: Int64) throws(StoreError) -> (model: Int, key: RecordKey)? {
    do {
      guard let found = try tables.place(of: number) else { return nil }
      return records.tables.first { $0.shape.tableName.hasSameBytes(as: found.table) }
        .map { ($0.shape.model, found.key) }
    } catch {
      throw Self.storeError(error)
    }
  }

  /// The smallest number of the outbox; nil when nothing waits.
  package func firstPending() throws(StoreError) -> Int64? {
    do { return try tables.firstPending() } catch { throw Self.storeError(error) }
  }

  /// The write that has been sent and waits for its answer; nil when none does.
  package func sentWrite() throws(StoreError) -> Int64? {
    do { return try tables.sentWrite() } catch { throw Self.storeError(error) }
  }

  /// How many writes wait for the server.
  package func pendingCount() throws(StoreError) -> Int {
    do { return try tables.pendingCount() } catch { throw Self.storeError(error) }
  }
}
