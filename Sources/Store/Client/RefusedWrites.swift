internal import MartletLiveQueries
internal import MartletModels
internal import MartletSyncEngine

/// The writes that the server has refused for good, in a transaction of a client's store.
package struct RefusedWrites {
  private let transaction: ClientTransaction

  package init(_ transaction: ClientTransaction) { self.transaction = transaction }

  /// Forgets a refused write. Returns whether it was there.
  package func discard(_ number: Int64) throws -> Bool {
    let tables = try transaction.tables
    let isThere = try tables.letters(transaction.records).contains { $0.letter.write.number == number }
    try tables.removeLetter(number)
    return isThere
  }

  /// Makes a refused write again on the record as it is now. Returns whether it was there.
  ///
  /// - Throws: what a save or delete throws; the letter stays then.
  package func retry(_ number: Int64) throws -> Bool {
    let letters = try transaction.tables.letters(transaction.records)
    guard let letter = letters.first(where: { $0.letter.write.number == number }) else { return false }
    let write = letter.letter.write
    let stored = try transaction.row(model: letter.model, letter.key)?.record
    switch write.content {
    // A record that is there now keeps what the creation did not give, as its owner.
    case .create(let record):
      try transaction.save(model: letter.model, stored.map { record.filled(from: $0) } ?? record)
    case .delete: _ = try transaction.delete(model: letter.model, letter.key, where: write.condition)
    case .update(let patches):
      guard var record = stored else {
        let name = try transaction.records.table(letter.model).shape.name
        throw StoreError(.notFound, "the \(name) that the refused write \(number) changes is not there")
      }
      for patch in patches { patch.make(on: &record) }
      try transaction.save(model: letter.model, record, where: write.condition)
    }
    try transaction.tables.removeLetter(number)
    return true
  }
}
