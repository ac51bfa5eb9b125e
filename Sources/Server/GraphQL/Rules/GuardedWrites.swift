internal import MartletAccess
internal import MartletChangeFeed
internal import MartletModels
internal import MartletStore

/// What a write does to one record.
enum RecordWrite: Sendable {
  /// Adds a record. `draft` is what `Store.drafted` has prepared of it.
  case create(model: Int, record: Record, draft: RecordDraft? = nil)
  case update(RecordUpdate)
  case delete(model: Int, key: RecordKey, condition: Predicate)

  /// The kind of change that the write makes of its own record.
  var kind: ChangeKind {
    switch self {
    case .create: .create
    case .update: .update
    case .delete: .delete
    }
  }

  /// The write as the store takes it.
  var operation: WriteOperation {
    switch self {
    case .create(let model, let record, let draft): .create(model: model, record: record, draft: draft)
    case .update(let update): .update(update)
    case .delete(let model, let key, let condition): .delete(model: model, key: key, condition: condition)
    }
  }

  /// The same with a new record checked and coded for the log, which the store's writer need not do then.
  func drafted(by store: Store) -> RecordWrite {
    guard case .create(let model, let record, nil) = self,
      case .create(_, _, let draft) = store.drafted(operation)
    else { return self }
    return .create(model: model, record: record, draft: draft)
  }
}

/// One write of a caller, before it is handed to the store. A reference, because it is as large as what it is about.
final class PlannedWrite: Sendable {
  let model: ModelDefinition
  let write: RecordWrite
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

  init(
    model: ModelDefinition, write: RecordWrite, key: RecordKey, given: Set<Int>, name: String, outcome: RuleOutcome?,
    base: WriteBase?, answer: RuleOutcome?
  ) {
    self.model = model
    self.write = write
    self.key = key
    self.given = given
    self.name = name
    self.outcome = outcome
    self.base = base
    self.answer = answer
  }

  /// The same with a new record checked and coded for the log.
  func drafted(by store: Store) -> PlannedWrite {
    PlannedWrite(
      model: model, write: write.drafted(by: store), key: key, given: given, name: name, outcome: outcome, base: base,
      answer: answer)
  }
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
      var rest = writes[...]
      while !rest.isEmpty {
        let drafts = Self.drafts(rest)
        if drafts.count > 1, Self.create(drafts, transaction) {
          rest = rest.dropFirst(drafts.count)
        } else {
          // One by one, also after a refusal: which one it is depends on what the caller may see.
          for write in rest.prefix(max(1, drafts.count)) { try Self.perform(write, transaction) }
          rest = rest.dropFirst(max(1, drafts.count))
        }
      }
    }
  }

  /// What was prepared of the first writes: creations in one model that the rules allow.
  private static func drafts(_ writes: ArraySlice<PlannedWrite>) -> [RecordDraft] {
    var drafts: [RecordDraft] = []
    for planned in writes {
      guard case .create(let model, let record, let draft?) = planned.write, model == writes.first?.model.number else {
        break
      }
      if let outcome = planned.outcome {
        do throws(RuleOutcome.Denial) {
          try outcome.checkCreation(of: record, given: planned.given)
        } catch {
          break
        }
      }
      drafts.append(draft)
    }
    return drafts
  }

  /// Adds records together; false when one of them was refused, and none was added.
  private static func create(_ drafts: [RecordDraft], _ transaction: WriteTransaction) -> Bool {
    do throws(StoreError) { return try transaction.create(drafts) } catch { return false }
  }

  private static func perform(_ planned: PlannedWrite, _ transaction: WriteTransaction) throws(StoreError) {
    switch planned.write {
    case .create(let model, let record, let draft): try create(planned, model, record, draft, transaction)
    case .update(let update):
      try judge(planned, transaction) { outcome, before throws(RuleOutcome.Denial) in
        try outcome.checkUpdate(of: before, changing: planned.given)
      }
      let settled = try ConflictResolver(planned).settle(update, transaction)
      try unique(planned, transaction) { () throws(StoreError) in try settled.perform(transaction) }
    case .delete(_, _, let condition):
      try judge(planned, transaction) { outcome, before throws(RuleOutcome.Denial) in
        try outcome.checkDeletion(of: before)
      }
      let settled = try ConflictResolver(planned).settleDeletion(condition, transaction)
      try unique(planned, transaction) { () throws(StoreError) in try settled.perform(transaction) }
    }
  }

  private static func create(
    _ planned: PlannedWrite, _ model: Int, _ record: Record, _ draft: RecordDraft?, _ transaction: WriteTransaction
  ) throws(StoreError) {
    guard let outcome = planned.outcome else {
      try transaction.create(model, record, draft: draft)
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
    try unique(planned, transaction) { () throws(StoreError) in try transaction.create(model, record, draft: draft) }
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

  /// The record that holds a unique value may be one that the caller does not see, or the value one that is hidden in
  /// it. Naming the record would then say which one has the value.
  private static func unique<Value>(
    _ planned: PlannedWrite, _ transaction: WriteTransaction, _ body: () throws(StoreError) -> Value
  ) throws(StoreError) {
    do {
      _ = try body()
    } catch {
      guard error.code == .notUnique, let outcome = planned.outcome,
        outcome.predicate(for: .get) != .all || outcome.hidesParts(for: .get)
      else { throw error }
      if let conflict = error.conflict, let other = try transaction.get(conflict.model, conflict.key)?.record,
        outcome.view(of: other, for: .get) == other
      {
        throw error
      }
      throw RuleRefusals.write(.operation(.create), planned.name, planned.model)
    }
  }
}
