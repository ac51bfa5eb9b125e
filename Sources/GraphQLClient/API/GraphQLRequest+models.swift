internal import MartletJSON

extension GraphQLRequest {
  /// The record with this id; nil when there is none.
  public static func get<M: Model>(_ type: M.Type, byId id: String) -> GraphQLRequest<M?> where R == M? {
    get(type, keys: M.primaryKey.first.map { [$0: .string(id)] } ?? [:])
  }

  /// The record with this key; nil when there is none.
  ///
  ///     .get(Seat.self, byIdentifier: [.flight: "OS 87", .row: 12])
  public static func get<M: Model>(
    _ type: M.Type, byIdentifier keys: [M.CodingKeys: JSONValue]
  ) -> GraphQLRequest<M?> where R == M? {
    get(type, keys: keys)
  }

  private static func get<M: Model>(_ type: M.Type, keys: [M.CodingKeys: JSONValue]) -> GraphQLRequest<M?> {
    let operation = ModelOperation(type)
    return GraphQLRequest<M?>(operation.get, field: operation.getField) {
      var variables = JSONObject()
      for key in M.primaryKey {
        guard let value = keys[key] else { throw ModelOperation<M>.Problem("\(key.stringValue) of the key is missing") }
        variables[key.stringValue] = value
      }
      return variables
    }
  }

  /// The first page of records that fulfil a condition, or the page of a token.
  public static func list<M: Model>(
    _ type: M.Type, where predicate: QueryPredicate? = nil, limit: Int? = nil, nextToken: String? = nil
  ) -> GraphQLRequest<ModelPage<M>> where R == ModelPage<M> {
    let operation = ModelOperation(type)
    return GraphQLRequest<ModelPage<M>>(operation.list, field: operation.listField) {
      var variables = JSONObject()
      if let predicate { variables["filter"] = .object(try predicate.filter(.query)) }
      if let limit { variables["limit"] = .int(Int64(limit)) }
      if let nextToken { variables["nextToken"] = .string(nextToken) }
      return variables
    }
  }
}

extension GraphQLRequest where R: Model {
  /// Writes a new record. Fields without a value are left to the server. Other models that this one holds (`.model`,
  /// `.key(of:)`, `.page(of:)` in `nested`) are not written: what relates two records is the field with the other's
  /// key.
  public static func create(_ model: R) -> GraphQLRequest<R> {
    let operation = ModelOperation(R.self)
    return GraphQLRequest(operation.mutation("create", hasCondition: false), field: operation.field("create")) {
      ["input": .object(try operation.input(model, nulls: false))]
    }
  }

  /// Changes a record to these values, if it fulfils the condition. Fields of the model without a value become null;
  /// fields that the model does not know stay as they are, and so do other models it holds; see `create`.
  public static func update(_ model: R, where predicate: QueryPredicate? = nil) -> GraphQLRequest<R> {
    let operation = ModelOperation(R.self)
    let document = operation.mutation("update", hasCondition: predicate != nil)
    return GraphQLRequest(document, field: operation.field("update")) {
      try operation.conditioned(operation.input(model, nulls: true), predicate)
    }
  }

  /// Deletes a record, if it fulfils the condition.
  public static func delete(_ model: R, where predicate: QueryPredicate? = nil) -> GraphQLRequest<R> {
    let operation = ModelOperation(R.self)
    let document = operation.mutation("delete", hasCondition: predicate != nil)
    return GraphQLRequest(document, field: operation.field("delete")) {
      try operation.conditioned(operation.key(model), predicate)
    }
  }

  /// Changes of a model's records as they are made.
  ///
  ///     .subscription(of: Post.self, type: .onUpdate, where: Post.keys.rating > 10.0)
  ///
  /// - Parameters:
  ///   - type: the model.
  ///   - event: which changes: created, updated or deleted records.
  ///   - predicate: which records; nil for all.
  ///   - owner: for schemas whose subscriptions have an `owner` argument.
  public static func subscription(
    of type: R.Type, type event: GraphQLSubscriptionType, where predicate: QueryPredicate? = nil, owner: String? = nil
  ) -> GraphQLRequest<R> {
    let operation = ModelOperation(type)
    let document = operation.subscription(event, isFiltered: predicate != nil, isOwned: owner != nil)
    return GraphQLRequest(document, field: operation.field(event.rawValue)) {
      var variables = JSONObject()
      if let predicate { variables["filter"] = .object(try predicate.filter(.subscription)) }
      if let owner { variables["owner"] = .string(owner) }
      return variables
    }
  }
}
