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
  /// - Parameter path: The path of one of `ServerConfiguration.stores`; nil for the first store.
  /// - Throws: `ServerError`, when the closure threw, took too long, or the store refused.
  @discardableResult
  public func transaction<Value: Sendable>(
    at path: String? = nil, _ body: @escaping @Sendable (ServerTransaction) throws -> Value
  ) async throws(ServerError) -> Value {
    try await node(at: path).handle.transaction(body)
  }

  /// Appends an event of the application's own to the log: it has a cursor, is retained, and reaches the subscription
  /// fields that listen to its topic (`ServerConfiguration.topics`), also those that come back later.
  ///
  /// Suspends until the event is durable.
  ///
  /// - Parameter path: The path of one of `ServerConfiguration.stores`; nil for the first store.
  /// - Returns: its cursor.
  /// - Throws: `ServerError` when the store refuses it, or has been closed.
  @discardableResult
  public func publish(
    topic: String, payload: JSONValue, at path: String? = nil
  ) async throws(ServerError) -> Cursor {
    try await node(at: path).handle.publish(topic: topic, payload: payload)
  }

  /// The record with the key fields in `key`, as of the last durable write; nil when there is none.
  ///
  /// - Parameter path: The path of one of `ServerConfiguration.stores`; nil for the first store.
  /// - Throws: `ServerError` when the model or a key field does not exist, or the store cannot be read.
  public func get(
    _ model: String, _ key: JSONObject, at path: String? = nil
  ) async throws(ServerError) -> JSONObject? {
    try await node(at: path).handle.get(model, key)
  }

  /// A page of a model's records, as of the last durable write; `ServerTransaction.list` explains the arguments.
  ///
  /// - Parameter path: The path of one of `ServerConfiguration.stores`; nil for the first store.
  /// - Throws: `ServerError` when the model or the index does not exist, the arguments mean nothing, or the store
  ///   cannot be read.
  public func list(
    _ model: String, _ arguments: JSONObject = JSONObject(), index: String? = nil, at path: String? = nil
  ) async throws(ServerError) -> RecordPage {
    try await node(at: path).handle.list(model, arguments, index: index)
  }
}
