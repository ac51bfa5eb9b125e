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
    store.commit(request, to: destination(batch)) { result in
      switch result {
      case .failure(let error): completion([.failure(StoreErrors.resolverError(error))])
      case .success(let receipt):
        let records = planned.map { entry in answer(entry.model, entry.key, receipt) }
        completion([.success(isTransaction ? .list(records) : records[0])])
      }
    }
  }

  /// The record a write was about, among those of the receipt; cascades stand there too.
  private func answer(_ model: ModelDefinition, _ key: RecordKey, _ receipt: Receipt) -> ResolvedValue {
    let written = receipt.records.last { $0.model == model.number && $0.key == key }
    return written?.record.map { .record(model.value($0)) } ?? .null
  }

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
