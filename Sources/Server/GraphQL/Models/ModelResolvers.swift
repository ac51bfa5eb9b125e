internal import MartletAccess
package import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
package import MartletModelSDL
internal import MartletModels
package import MartletStore

/// The code of the generated fields: reads and writes of the store that answer by callback, on no task.
package struct ModelResolvers: Sendable {
  let schema: ModelSchema
  let store: Store
  let calendar: Calendar
  let limits: ServerLimits.Query
  /// Decide about conflicts, by the model's name.
  let conflictHandlers: [String: ConflictHandler]

  package init(
    _ schema: ModelSchema, _ store: Store, limits: ServerLimits.Query, calendar: Calendar,
    conflictHandlers: [String: ConflictHandler] = [:]
  ) {
    self.conflictHandlers = conflictHandlers
    self.schema = schema
    self.store = store
    self.limits = limits
    self.calendar = calendar
  }

  /// Attaches everything to `resolvers`.
  package func attach(to resolvers: inout Resolvers) {
    for (type, slots) in schema.slots { resolvers.slots[type] = slots }
    for kind in ScalarKind.allCases where kind.isAWS && schema.schema.type(kind.rawValue) != nil {
      resolvers.scalars[kind.rawValue] = Self.rules(kind)
    }
    if schema.models.contains(where: { $0.conflicts != nil }) {
      resolvers.scalars["ModelValues"] = ScalarRules(isUserCode: false, parse: { $0 }, serialize: { $0 })
    }
    for (path, operation) in schema.operations {
      let resolver = isVersioned(operation) ? StoreErrors.withMembers(resolver(operation)) : resolver(operation)
      resolvers.use(resolver, path.type, path.field)
    }
    for model in schema.models {
      for relation in model.relations {
        resolvers.use(.callback { read(relation, of: model, $0, $1) }, model.name, relation.name)
      }
    }
  }

  private static func rules(_ kind: ScalarKind) -> ScalarRules {
    ScalarRules(
      isUserCode: false,
      parse: { value in
        guard kind.accepts(value) else { throw ResolverError("is not a valid \(kind.rawValue)") }
        return value
      }, serialize: { $0 })
  }

  private func resolver(_ operation: BuiltInOperation) -> FieldResolver {
    switch operation {
    case .get(let model): .callback { get(schema.models[model], $0, $1) }
    case .list(let model): .callback { list(schema.models[model], nil, $0, $1) }
    case .listByIndex(let model, let index):
      .callback { list(schema.models[model], schema.models[model].indexes[index], $0, $1) }
    case .sync(let model): .callback { sync(schema.models[model], $0, $1) }
    case .create, .update, .delete, .transaction: .callback { write(operation, $0, $1) }
    case .subscribe, .changes, .treeChanges: .parent
    }
  }

  /// Whether a field is one of those that a client with a replica of versioned models asks for.
  private func isVersioned(_ operation: BuiltInOperation) -> Bool {
    switch operation {
    case .get(let model), .list(let model), .listByIndex(let model, _), .sync(let model), .create(let model),
      .update(let model), .delete(let model):
      schema.models[model].conflicts != nil
    case .transaction: schema.models.contains { $0.conflicts != nil }
    case .subscribe, .changes, .treeChanges: false
    }
  }

  // MARK: Reading

  typealias Completion = @Sendable (ResolverResults) -> Void

  /// Runs one read and completes every parent of the batch with its answer.
  func read<Value: Sendable>(
    _ batch: BatchRequest, _ completion: @escaping Completion,
    _ body: @escaping @Sendable (ReadSnapshot) throws(StoreError) -> Value,
    answer: @escaping @Sendable (Value) -> [ResolvedValue]
  ) {
    let results = results(batch, completion, answer)
    store.read([ReadRequest(read: body, completion: results)], to: destination(batch))
  }

  /// Completes every parent of the batch with what was read.
  private func results<Value: Sendable>(
    _ batch: BatchRequest, _ completion: @escaping Completion, _ answer: @escaping @Sendable (Value) -> [ResolvedValue]
  ) -> @Sendable (Result<Value, StoreError>) -> Void {
    let count = batch.sources.count
    return { result in
      switch result {
      case .success(let value): completion(answer(value).map { .success($0) })
      case .failure(let error):
        completion(Array(repeating: .failure(StoreErrors.resolverError(error)), count: count))
      }
    }
  }

  func destination(_ batch: BatchRequest) -> any StoreDestination {
    batch.context.value(as: RequestScope.self)?.destination ?? DirectDestination()
  }

  /// What the rules allow the caller of a request with a model; nil where nothing restricts it.
  func outcome(of model: ModelDefinition, _ batch: BatchRequest, for use: RuleUse) -> RuleOutcome? {
    batch.context.value(as: RequestScope.self)?.rights?.outcome(of: model.number, for: use)
  }

  func fail(_ batch: BatchRequest, _ error: any Error, _ completion: Completion) {
    completion(Array(repeating: .failure(StoreErrors.resolverError(error)), count: batch.sources.count))
  }

  private func get(_ model: ModelDefinition, _ batch: BatchRequest, _ completion: @escaping Completion) {
    let outcome = outcome(of: model, batch, for: .get)
    do {
      try outcome?.require(.get, batch.fieldName, on: batch.typeName)
    } catch {
      return fail(batch, error, completion)
    }
    let key = RecordKey(values: model.primaryKey.map { batch.arguments[model.fields[$0].name] ?? .null })
    read(batch, completion) { snapshot throws(StoreError) in
      try snapshot.get(model.number, key)
    } answer: { stored in
      [stored.map { model.value($0, outcome, .get) } ?? .null]
    }
  }

  private func list(
    _ model: ModelDefinition, _ index: ModelIndex?, _ batch: BatchRequest, _ completion: @escaping Completion
  ) {
    let outcome = outcome(of: model, batch, for: index == nil ? .list : .index)
    let query: ListQuery
    do {
      try outcome?.require(.list, batch.fieldName, on: batch.typeName)
      query = try ListArguments(model: model, index: index, limits: limits, outcome: outcome).query(batch.arguments)
    } catch {
      return fail(batch, error, completion)
    }
    let results = results(batch, completion) { (page: ListPage) in
      [.object(RecordConnection(model: model, page: page, outcome: outcome))]
    }
    store.read([ReadRequest(list: query, completion: results)], to: destination(batch))
  }

  /// One statement for all parents of a level.
  private func read(
    _ relation: ModelRelation, of model: ModelDefinition, _ batch: BatchRequest, _ completion: @escaping Completion
  ) {
    let target = schema.models[relation.target]
    let outcome = outcome(of: target, batch, for: .related)
    do {
      try outcome?.require(.list, batch.fieldName, on: batch.typeName)
    } catch {
      return fail(batch, error, completion)
    }
    let followed = self.outcome(of: model, batch, for: .relation)
    let parents: [[JSONValue]] = batch.sources.map { source in
      guard case .record(let record) = source.content else { return [] }
      if let followed, let whole = record.attachment as? Record,
        !followed.shows(relation: relation.name, of: whole, for: .list)
      {
        return []
      }
      return relation.sourceFields.map { $0 < record.slots.count ? record.slots[$0] : .null }
    }
    // A parent without a value in its key field relates to nothing, and must not be asked for.
    let asked = parents.indices.filter { !parents[$0].isEmpty && !parents[$0].contains { $0.isNull } }
    let keys = asked.map { parents[$0] }
    let count = parents.count
    if relation.kind != .hasMany, relation.targetFields == target.primaryKey {
      return read(batch, completion) { snapshot throws(StoreError) in
        try snapshot.get(target.number, keys: keys.map { RecordKey(values: $0) })
      } answer: { found in
        var answers = [ResolvedValue](repeating: .null, count: count)
        for (index, stored) in zip(asked, found) {
          if let stored { answers[index] = target.value(stored, outcome, .list) }
        }
        return answers
      }
    }
    let query: ChildrenQuery
    do {
      query = try ListArguments(model: target, index: nil, limits: limits, outcome: outcome).children(
        relation, keys, batch.arguments)
    } catch {
      return fail(batch, error, completion)
    }
    let answer: @Sendable ([ListPage]) -> [ResolvedValue] = { pages in
      let empty = ListPage(records: [], token: nil)
      var answers = [ResolvedValue](
        repeating: relation.kind == .hasMany
          ? .object(RecordConnection(model: target, page: empty, outcome: outcome)) : .null, count: count)
      for (index, page) in zip(asked, pages) {
        answers[index] =
          relation.kind == .hasMany
          ? .object(RecordConnection(model: target, page: page, outcome: outcome))
          : page.records.first.map { target.value($0, outcome, .list) } ?? .null
      }
      return answers
    }
    let results = results(batch, completion, answer)
    guard let token = batch.arguments["nextToken"]?.string else {
      return store.read([ReadRequest(children: query, completion: results)], to: destination(batch))
    }
    // A token is one parent's: it says where that parent's page ended.
    guard keys.count <= 1 else {
      return fail(
        batch,
        ResolverError(
          "nextToken belongs to one parent, and \(relation.name) was asked for \(keys.count) at once; query the parent "
            + "by its key.", extensions: ["code": "BAD_USER_INPUT", "errorType": "ValidationException"]), completion)
    }
    guard let only = keys.first else { return completion(answer([]).map { .success($0) }) }
    let page = ListQuery(
      model: query.model, equal: Array(zip(query.reference, only)), filter: query.filter, order: query.order,
      limit: query.limit, token: token)
    let request = ReadRequest(list: page) { result in results(result.map { [$0] }) }
    store.read([request], to: destination(batch))
  }
}
