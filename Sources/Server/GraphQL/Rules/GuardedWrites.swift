internal import MartletAccess
internal import MartletModels
internal import MartletStore

/// One write of a caller, as it is handed to the store.
struct PlannedWrite: Sendable {
  let model: ModelDefinition
  var write: WriteOperation
  let key: RecordKey
  /// The fields that the caller wrote, by position.
  let given: Set<Int>
  /// The mutation's name, for the words of a refusal.
  let name: String
  /// What the rules allow the caller; nil where nothing restricts it.
  let outcome: RuleOutcome?
  /// What the caller knew of the stored record; nil for a write that is made on whatever is stored.
  let base: WriteBase?
  /// The same as `outcome` for the record in the answer.
  let answer: RuleOutcome?
}

/// Writes of a caller that rules restrict, or that name the version they were made on. Each is judged on the store's
/// writer, by the record as it is at that moment.
///
/// A record that the caller does not see is answered as one that does not exist. A creation under its key, or with its
/// value in a unique index, is answered as any creation that the rules refuse.
struct GuardedWrites: Sendable {
  let writes: [PlannedWrite]

  var operation: WriteOperation {
    .transaction { [writes] transaction in
      for write in writes { try Self.perform(write, transaction) }
    }
  }

  private static func perform(_ planned: PlannedWrite, _ transaction: WriteTransaction) throws(StoreError) {
    switch planned.write {
    case .create(let model, let record): try create(planned, model, record, transaction)
    case .update(let update):
      try judge(planned, transaction) { outcome, before throws(RuleOutcome.Denial) in
        try outcome.checkUpdate(of: before, changing: planned.given)
      }
      let settled = try ConflictResolver(planned).settle(update, transaction)
      try unique(planned) { () throws(StoreError) in try settled.perform(transaction) }
    case .delete(let model, let key, let condition, let version):
      try judge(planned, transaction) { outcome, before throws(RuleOutcome.Denial) in
        try outcome.checkDeletion(of: before)
      }
      let settled = try ConflictResolver(planned).settleDeletion(transaction)
      if let settled { return try settled.perform(transaction) }
      try transaction.delete(model, key, condition: condition, expectedVersion: version)
    case .event, .batch, .transaction:
      preconditionFailure("planned writes are creations, updates and deletions of records")
    }
  }

  private static func create(
    _ planned: PlannedWrite, _ model: Int, _ record: Record, _ transaction: WriteTransaction
  ) throws(StoreError) {
    guard let outcome = planned.outcome else {
      try transaction.create(model, record)
      return
    }
    do {
      try outcome.checkCreation(of: record, given: planned.given)
    } catch {
      throw RuleRefusals.write(error, planned.name, planned.model)
    }
    if let existing = try transaction.get(model, planned.key), outcome.view(of: existing.record, for: .get) == nil {
      throw RuleRefusals.write(.operation(.create), planned.name, planned.model)
    }
    try unique(planned) { () throws(StoreError) in try transaction.create(model, record) }
  }

  /// Judges a change by the record before it. A record that does not exist is left to the store to refuse.
  private static func judge(
    _ planned: PlannedWrite, _ transaction: WriteTransaction,
    _ check: (RuleOutcome, Record) throws(RuleOutcome.Denial) -> Void
  ) throws(StoreError) {
    guard let outcome = planned.outcome, let stored = try transaction.get(planned.model.number, planned.key) else {
      return
    }
    do {
      try check(outcome, stored.record)
    } catch {
      guard outcome.view(of: stored.record, for: .get) != nil else {
        throw StoreError(.notFound, "there is no \(planned.model.name) with this key")
      }
      throw RuleRefusals.write(error, planned.name, planned.model)
    }
  }

  /// The record that holds a unique value may be one that the caller does not see.
  private static func unique<Value>(
    _ planned: PlannedWrite, _ body: () throws(StoreError) -> Value
  ) throws(StoreError) {
    do {
      _ = try body()
    } catch {
      guard error.code == .notUnique, let outcome = planned.outcome, outcome.predicate(for: .get) != .all else {
        throw error
      }
      throw RuleRefusals.write(.operation(.create), planned.name, planned.model)
    }
  }
}
