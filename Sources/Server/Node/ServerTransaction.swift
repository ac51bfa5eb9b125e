internal import MartletModelSchema
internal import MartletRuntime
internal import MartletStore

/// Reads and writes of one transaction, by the schema's names. Valid inside the closure of
/// `GraphQLServer.transaction(_:)` only.
public struct ServerTransaction {
  private let transaction: WriteTransaction
  private let models: ModelSchema
  private let calendar: Calendar

  init(_ transaction: WriteTransaction, _ models: ModelSchema, _ calendar: Calendar) {
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

  /// Adds a record and answers it with defaults and time stamps.
  ///
  /// - Throws: `ServerError` for a model or field that does not exist, a value that does not fit, or a key that is
  ///   taken.
  @discardableResult
  public func create(_ model: String, _ values: JSONObject) throws(ServerError) -> JSONObject {
    let model = try definition(model)
    return try rethrowing { () throws in
      let record = try InputReader(model).create(values, now: calendar.dateTime(), freshID: calendar.identifier())
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

  private func object(_ record: Record, _ model: ModelDefinition) -> JSONObject {
    JSONObject(model.fields.enumerated().map { (key: $1.name, value: record[$0]) })
  }

  private func rethrowing<Value>(_ body: () throws -> Value) throws(ServerError) -> Value {
    do {
      return try body()
    } catch {
      throw ServerError(.write, "\(error)")
    }
  }
}

extension GraphQLServer {
  /// Makes several writes together, or none of them, and returns what the closure returns. The closure runs on the
  /// store's writer, synchronously; what it throws takes everything back.
  ///
  /// Suspends until the transaction is durable.
  ///
  /// ```swift
  /// let account = try await server.transaction { transaction in
  ///   try transaction.update("Account", ["id": "a", "balance": 90])
  ///   return try transaction.update("Account", ["id": "b", "balance": 110])
  /// }
  /// ```
  /// - Throws: `ServerError`, when the closure threw, took too long, or the store refused.
  @discardableResult
  public func transaction<Value: Sendable>(
    _ body: @escaping @Sendable (ServerTransaction) throws -> Value
  ) async throws(ServerError) -> Value {
    let models = node.models
    let calendar = calendar
    let returned = Lock<Value?>(nil)
    let operation = WriteOperation.transaction { transaction in
      let value = try body(ServerTransaction(transaction, models, calendar))
      returned.withLock { $0 = value }
    }
    _ = try await commit(operation)
    guard let value = returned.withLock({ $0 }) else {
      throw ServerError(.write, "The transaction was acknowledged without having run.")
    }
    return value
  }

  /// Appends an event of the application's own to the log: it has a cursor, is retained, and reaches the subscription
  /// fields that listen to its topic (`ServerConfiguration.topics`), also those that come back later.
  ///
  /// Suspends until the event is durable.
  ///
  /// - Returns: its place in the log.
  /// - Throws: `ServerError` when the store refuses it, or has been closed.
  @discardableResult
  public func publish(topic: String, payload: JSONValue) async throws(ServerError) -> Cursor {
    try await commit(.event(topic: topic, payload: payload))
  }

  private func commit(_ operation: WriteOperation) async throws(ServerError) -> Cursor {
    let result = await withCheckedContinuation { continuation in
      node.store.commit(WriteRequest(operation)) { continuation.resume(returning: $0) }
    }
    switch result {
    case .success(let receipt):
      let position = node.store.position
      return Cursor(term: position.term, offset: receipt.offsets?.upperBound ?? position.head)
    case .failure(let error): throw ServerError(.write, error.description)
    }
  }
}
