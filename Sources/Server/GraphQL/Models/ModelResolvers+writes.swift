internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

extension ModelResolvers {
  /// Runs a generated mutation.
  func write(_ operation: BuiltInOperation, _ batch: BatchRequest, _ completion: @escaping Completion) {
    let scope = batch.context.value(as: RequestScope.self)
    let now = calendar.dateTime()
    let rights = scope?.rights
    var planned: [PlannedWrite]
    do {
      if case .transaction = operation {
        planned = try (batch.arguments["writes"]?.array ?? []).map { try planMember($0, now, scope) }
      } else {
        planned = [
          try plan(
            operation, batch.fieldName, batch.arguments["input"]?.object ?? JSONObject(),
            batch.arguments["condition"], now, scope)
        ]
      }
    } catch {
      return fail(batch, error, completion)
    }
    // The writer is held for a large write as long as it works on it, so that what can be prepared is prepared here.
    if planned.count > store.limits.smallWrite {
      planned = planned.map { $0.drafted(by: store) }
    }
    let isTransaction = operation == .transaction
    let whole: WriteOperation =
      rights != nil || planned.contains { $0.base != nil }
      ? GuardedWrites(writes: planned).operation
      : isTransaction ? .batch(planned.map(\.write.operation)) : planned[0].write.operation
    let request = WriteRequest(
      whole, size: planned.count, writeNumber: scope?.writeNumber, acknowledged: scope?.acknowledged,
      isResend: scope?.isResend ?? false)
    let destination: any StoreDestination = scope?.destination ?? DirectDestination()
    let commit = scope?.trace?.commit(planned.count)
    let write = StoreSubmission(request) { [planned, schema, store] result in
      commit?.end(result, in: store)
      switch result {
      case .failure(let error):
        if error.code == .overloaded { destination.ofFeed?.countRefusedWrite() }
        WriteRefusals(schema: schema, store: store).answer(error, rights, destination, completion)
      case .success(let receipt):
        if let offsets = receipt.offsets, let written = scope?.written,
          planned.contains(where: { $0.model.conflicts != nil })
        {
          let cursor = Cursor(term: store.lineage.currentTerm, offset: offsets.upperBound)
          written.withLock { $0 = cursor }
        }
        let records = WriteAnswers.records(planned, receipt)
        if receipt.isRepeat, records.contains(where: { $0 == nil }) { return completion([.failure(Self.forgotten)]) }
        func value(_ index: Int) -> ResolvedValue {
          records[index].map { planned[index].value(of: $0, at: receipt.time) } ?? .null
        }
        completion([.success(isTransaction ? .list(planned.indices.map(value)) : value(0))])
      }
    }
    if let feed = destination as? FeedDestination {
      feed.commit(write)
    } else {
      store.commit([write], to: destination)
    }
  }

  /// The answer to a resend when the write is known to have been applied, but the log no longer has its record.
  private static let forgotten = ResolverError(
    "The write was applied before; the log no longer has its record.",
    extensions: ["code": "ALREADY_APPLIED", "errorType": "ConditionalCheckFailedException"])

  /// One member of a transaction: the one mutation its object names.
  private func planMember(_ member: JSONValue, _ now: String, _ scope: RequestScope?) throws -> PlannedWrite {
    let given = (member.object ?? JSONObject()).filter { !$0.value.isNull }
    guard given.count == 1, let only = given.first,
      let operation = schema.operations[FieldPath("Mutation", only.key)]
    else { throw FilterError(path: "writes", message: "each write names exactly one mutation") }
    return try plan(operation, only.key, only.value.object ?? JSONObject(), nil, now, scope)
  }

  private func plan(
    _ operation: BuiltInOperation, _ name: String, _ input: JSONObject, _ condition: JSONValue?, _ now: String,
    _ scope: RequestScope?
  ) throws -> PlannedWrite {
    let rights = scope?.rights
    guard let (number, kind) = operation.written else {
      throw FilterError(path: "writes", message: "only creates, updates and deletes can be written")
    }
    let model = schema.models[number]
    let outcome = rights?.outcome(of: number, for: kind.use)
    try outcome?.require(kind, name, on: "Mutation")
    var predicate = Predicate.all
    if let condition {
      var filter = FilterReader(model, FilterLimits(limits))
      predicate = try filter.read(condition, path: "condition")
    }
    let reader = InputReader(model)
    let base = kind == .create ? nil : self.base(of: model, input, now, scope)
    // Rules and conflicts ask for the written fields, nothing else.
    let given: Set<Int> = outcome != nil || base != nil ? model.written(input, kind) : []
    func planned(_ write: RecordWrite, _ key: RecordKey) -> PlannedWrite {
      PlannedWrite(
        model: model, write: write, key: key, given: given, name: name, outcome: outcome, base: base,
        answer: rights?.outcome(of: number, for: .answer))
    }
    if kind == .create {
      var record = try reader.create(input, now: now, freshID: calendar.recordIdentifier())
      if let outcome { record = outcome.owned(record, given: given) }
      guard predicate == .all || predicate.matches(record) else {
        throw StoreError(.conditionFailed, "the condition does not hold for the new record")
      }
      return planned(.create(model: number, record: record), model.key(of: record))
    }
    // A condition must not say anything about what the caller does not see.
    if predicate != .all, let outcome = rights?.outcome(of: number, for: .condition) {
      predicate = try outcome.checked(predicate, for: .get, of: model)
    }
    let key = try reader.key(input)
    if kind == .delete { return planned(.delete(model: number, key: key, condition: predicate), key) }
    let update = RecordUpdate(
      model: number, key: key, values: try reader.changes(input, now: now), condition: predicate)
    return planned(.update(update), key)
  }
}

extension ModelDefinition {
  /// The positions of the fields that an input writes.
  fileprivate func written(_ input: JSONObject, _ kind: AccessOperation) -> Set<Int> {
    var given: Set<Int> = []
    for field in input.keys {
      guard let position = self.position(of: field) else { continue }
      if kind == .create || !primaryKey.contains(position) { given.insert(position) }
    }
    return given
  }
}

extension PlannedWrite {
  /// The record that the write made, as its caller sees it.
  func value(of written: WrittenRecord, at time: Int64) -> ResolvedValue {
    guard let record = written.record else { return .null }
    return model.value(
      record, model.stamps(written.version, time, isDeleted: written.kind == .delete), answer, .get)
  }
}

extension AccessOperation {
  /// What a write's rules are used for.
  fileprivate var use: RuleUse {
    switch self {
    case .create: .create
    case .delete: .delete
    case .update, .get, .list, .listen, .sync, .search: .update
    }
  }
}

extension BuiltInOperation {
  /// The model that a mutation writes, and how; nil for other fields.
  fileprivate var written: (model: Int, kind: AccessOperation)? {
    switch self {
    case .create(let model): (model, .create)
    case .update(let model): (model, .update)
    case .delete(let model): (model, .delete)
    case .get, .list, .listByIndex, .sync, .transaction, .subscribe, .changes, .treeChanges: nil
    }
  }
}
