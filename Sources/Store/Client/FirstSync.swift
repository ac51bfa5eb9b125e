internal import MartletModels
internal import MartletSQLite
internal import MartletSyncEngine

/// The first time that a store has a server: what it holds is created there.
struct FirstSync {
  let transaction: ClientTransaction

  /// Enqueues the records of the models with these numbers, in this order.
  func enqueue(_ models: [Int]) throws {
    for model in models {
      let table = try transaction.records.table(model)
      for key in try keys(table) {
        try transaction.change(table, key) { replica, number in replica.adopt(number: number) }
      }
    }
  }

  /// The records that no server has given: those have no position, and no write that waits.
  private func keys(_ table: RecordTable) throws -> [RecordKey] {
    let statement = try transaction.tables.database.statement(
      "SELECT \(table.columns) FROM \(table.shape.table) WHERE \(SQLText.created) = 0 AND \(SQLText.changed) = 0")
    defer { statement.reset() }
    var keys: [RecordKey] = []
    while try statement.step() { keys.append(table.shape.key(of: try table.row(statement).record)) }
    return keys
  }
}

extension ClientWriter {
  /// The store has a server from now on. Nothing for a store that had one before.
  ///
  /// - Parameter models: the numbers of the models, those that others belong to first.
  package func beginSync(_ models: [Int]) throws(StoreError) {
    if try value(ClientTables.synced) != nil { return }
    _ = try transaction { transaction in
      try FirstSync(transaction: transaction).enqueue(models)
      try transaction.set(ClientTables.synced, "1")
    }
  }
}
