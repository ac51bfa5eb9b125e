internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSchema
internal import MartletStore

extension ModelResolvers {
  /// Runs a generated mutation.
  func write(_ operation: BuiltInOperation, _ batch: BatchRequest, _ completion: @escaping Completion) {
    let scope = batch.context.value(as: RequestScope.self)
    let now = calendar.dateTime()
    let planned: [(model: ModelDefinition, write: WriteOperation, key: RecordKey)]
    do {
      if case .transaction = operation {
        planned = try (batch.arguments["writes"]?.array ?? []).map { try planMember($0, now) }
      } else {
        planned = [
          try plan(
            operation, batch.arguments["input"]?.object ?? JSONObject(), batch.arguments["condition"], now)
        ]
      }
    } catch {
      return fail(batch, error, completion)
    }
    let isTransaction = operation == .transaction
    let request = WriteRequest(
      isTransaction ? .batch(planned.map(\.write)) : planned[0].write, writeID: scope?.writeID)
    let destination = destination(batch)
    let write = Store.Submission(request) { result in
      switch result {
      case .failure(let error):
        if error.code == .overloaded { (destination as? FeedDestination)?.countRefusedWrite() }
        completion([.failure(StoreErrors.resolverError(error))])
      case .success(let receipt):
        let records = answers(planned, receipt)
        if receipt.isRepeat, records.contains(where: { $0 == nil }) { return completion([.failure(Self.forgotten)]) }
        let values = zip(planned, records).map { entry, record in
          record.map { ResolvedValue.record(entry.model.value($0)) } ?? .null
        }
        completion([.success(isTransaction ? .list(values) : values[0])])
      }
    }
    if let feed = destination as? FeedDestination {
      feed.commit(write)
    } else {
      store.commit([write], to: destination)
    }
  }

  /// What each write made of its record, among the receipt's records, which are in the writes' order and have cascades
  /// too. Nil for one that is no longer known.
  private func answers(
    _ planned: [(model: ModelDefinition, write: WriteOperation, key: RecordKey)], _ receipt: Receipt
  ) -> [Record?] {
    struct Written: Hashable {
      var kind: ChangeKind
      var model: Int
      var key: RecordKey
    }
    // Several writes of one record have several entries: each takes the next one of its own kind.
    var places: [Written: [Int]] = [:]
    for (index, record) in receipt.records.enumerated().reversed() {
      places[Written(kind: record.kind, model: record.model, key: record.key), default: []].append(index)
    }
    let found = planned.map { entry in
      entry.write.kind.flatMap { kind in
        places[Written(kind: kind, model: entry.model.number, key: entry.key)]?.popLast()
      }
    }
    guard receipt.isRepeat else { return found.map { $0.flatMap { receipt.records[$0].record } } }
    // A repeated create was given a fresh id here; the first one's stands in the receipt, in the order of the writes.
    let taken = Set(found.compactMap { $0 })
    var fresh: [Int: [Int]] = [:]
    for (index, record) in receipt.records.enumerated().reversed()
    where record.kind == .create && !taken.contains(index) {
      fresh[record.model, default: []].append(index)
    }
    return zip(planned, found).map { entry, place in
      let place = place ?? (entry.write.kind == .create ? fresh[entry.model.number]?.popLast() : nil)
      return place.flatMap { receipt.records[$0].record }
    }
  }

  /// The answer to a resend when the write is known to have been applied, but the log no longer has its record.
  private static let forgotten = ResolverError(
    "The write was applied before; the log no longer has its record.",
    extensions: ["code": "ALREADY_APPLIED", "errorType": "ConditionalCheckFailedException"])

  /// One member of a transaction: the one mutation its object names.
  private func planMember(
    _ member: JSONValue, _ now: String
  ) throws -> (model: ModelDefinition, write: WriteOperation, key: RecordKey) {
    let given = (member.object ?? JSONObject()).filter { !$0.value.isNull }
    guard given.count == 1, let only = given.first,
      let operation = schema.operations[FieldPath("Mutation", only.key)]
    else { throw FilterError(path: "writes", message: "each write names exactly one mutation") }
    return try plan(operation, only.value.object ?? JSONObject(), nil, now)
  }

  private func plan(
    _ operation: BuiltInOperation, _ input: JSONObject, _ condition: JSONValue?, _ now: String
  ) throws -> (model: ModelDefinition, write: WriteOperation, key: RecordKey) {
    switch operation {
    case .create(let number):
      let model = schema.models[number]
      let record = try InputReader(model).create(input, now: now, freshID: calendar.identifier())
      var filter = FilterReader(model)
      let predicate = try filter.read(condition, path: "condition")
      guard predicate == .all || predicate.matches(record) else {
        throw StoreError(.conditionFailed, "the condition does not hold for the new record")
      }
      return (model, .create(model: number, record: record), model.key(of: record))
    case .update(let number):
      let model = schema.models[number]
      let reader = InputReader(model)
      let key = try reader.key(input)
      var filter = FilterReader(model)
      let update = RecordUpdate(
        model: number, key: key, values: try reader.changes(input, now: now),
        condition: try filter.read(condition, path: "condition"))
      return (model, .update(update), key)
    case .delete(let number):
      let model = schema.models[number]
      let key = try InputReader(model).key(input)
      var filter = FilterReader(model)
      return (
        model, .delete(model: number, key: key, condition: try filter.read(condition, path: "condition")), key
      )
    case .get, .list, .listByIndex, .transaction, .subscribe:
      throw FilterError(path: "writes", message: "only creates, updates and deletes can be written")
    }
  }
}

extension WriteOperation {
  /// The kind of change that the write makes of its own record.
  fileprivate var kind: ChangeKind? {
    switch self {
    case .create: .create
    case .update: .update
    case .delete: .delete
    case .event, .batch, .transaction: nil
    }
  }
}
