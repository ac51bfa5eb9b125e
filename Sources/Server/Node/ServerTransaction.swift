internal import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletStore

/// Reads and writes of one transaction, by the schema's names. Valid inside the closure of
/// `GraphQLServer.transaction(_:)` only.
public struct ServerTransaction {
  private let transaction: WriteTransaction
  private let models: ModelSchema
  private let calendar: Calendar
  private let limits: ServerLimits.Query

  init(
    _ transaction: WriteTransaction, _ models: ModelSchema, _ calendar: Calendar, _ limits: ServerLimits.Query
  ) {
    self.limits = limits
    self.transaction = transaction
    self.models = models
    self.calendar = calendar
  }

  /// The record with the key fields in `key`; nil when there is none.
  ///
  /// - Throws: `ServerError` when the model or a key field does not exist.
  public func get(_ model: String, _ key: JSONObject) throws(ServerError) -> JSONObject? {
    let model = try definition(model)
    return try rethrowing { () throws in
      try transaction.get(model.number, InputReader(model).key(key)).map { object($0.record, model) }
    }
  }

  /// A page of a model's records, with the transaction's own writes.
  ///
  /// ```swift
  /// let open = try transaction.list("Todo", ["filter": ["done": ["eq": false]], "limit": 20])
  /// let ofAda = try transaction.list("Todo", ["owner": "ada"], index: "byOwner")
  /// ```
  /// - Parameters:
  ///   - arguments: Those of the list query that the schema has for the model or for the index: `filter`, `limit`,
  ///     `nextToken`, `sortDirection`, the key's fields.
  ///   - index: The name of an index of the model; nil lists by the primary key.
  /// - Throws: `ServerError` when the model or the index does not exist, or the arguments mean nothing.
  public func list(
    _ model: String, _ arguments: JSONObject = JSONObject(), index: String? = nil
  ) throws(ServerError) -> RecordPage {
    let model = try definition(model)
    let found = try RecordPage.index(index, of: model)
    return try rethrowing { () throws in
      RecordPage(
        try transaction.list(
          ListArguments(model: model, index: found, limits: limits, outcome: nil).query(arguments)), model)
    }
  }

  /// Adds a record and answers it with defaults and time stamps.
  ///
  /// - Throws: `ServerError` for a model or field that does not exist, a value that does not fit, or a key that is
  ///   taken.
  @discardableResult
  public func create(_ model: String, _ values: JSONObject) throws(ServerError) -> JSONObject {
    let model = try definition(model)
    return try rethrowing { () throws in
      let record = try InputReader(model).create(values, now: calendar.dateTime(), freshID: calendar.recordIdentifier())
      return object(try transaction.create(model.number, record).record, model)
    }
  }

  /// Changes the given fields of the record whose key fields are in `values`; null clears a field.
  ///
  /// - Throws: `ServerError` as `create`, and when the record does not exist.
  @discardableResult
  public func update(_ model: String, _ values: JSONObject) throws(ServerError) -> JSONObject {
    let model = try definition(model)
    return try rethrowing { () throws in
      let reader = InputReader(model)
      let update = RecordUpdate(
        model: model.number, key: try reader.key(values),
        values: try reader.changes(values, now: calendar.dateTime()))
      return object(try transaction.update(update).record, model)
    }
  }

  /// Removes the record with the key fields in `key` and answers what it was.
  ///
  /// - Throws: `ServerError` when the model, a key field or the record does not exist.
  @discardableResult
  public func delete(_ model: String, _ key: JSONObject) throws(ServerError) -> JSONObject {
    let model = try definition(model)
    return try rethrowing { () throws in
      object(try transaction.delete(model.number, InputReader(model).key(key)).record, model)
    }
  }

  /// Appends an event to a topic, in the transaction's place in the log.
  ///
  /// - Throws: `ServerError` when the store refuses it.
  public func publish(topic: String, payload: JSONValue) throws(ServerError) {
    try rethrowing { () throws in try transaction.publish(topic: topic, payload: payload) }
  }

  private func definition(_ name: String) throws(ServerError) -> ModelDefinition {
    guard let model = models.models.first(where: { $0.name == name }) else {
      throw ServerError(.write, "The schema has no model \"\(name)\".")
    }
    return model
  }

  private func object(_ record: Record, _ model: ModelDefinition) -> JSONObject { RecordPage.object(record, model) }

  private func rethrowing<Value>(_ body: () throws -> Value) throws(ServerError) -> Value {
    do {
      return try body()
    } catch {
      throw ServerError(.write, "\(error)")
    }
  }
}
