internal import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletStore

/// The data of the server that serves a request, for its resolvers (`request.server`): reads, transactions and events.
///
/// ```swift
/// resolvers.resolve("Mutation", "closeTodo") { request in
///   try await request.server?.transaction { transaction in
///     try transaction.update("Todo", ["id": .string(request.string("id") ?? ""), "done": true])
///   }
///   return true
/// }
/// ```
/// What it does is the program's own: the rules of the models and of the caller are not asked.
public struct ServerHandle: Sendable {
  /// Made once for a server, because the scope of each request has it.
  private final class Parts: Sendable {
    let store: Store
    let calendar: Calendar
    let limits: ServerLimits.Query
    let models: @Sendable () -> ModelSchema

    init(
      _ store: Store, _ calendar: Calendar, _ limits: ServerLimits.Query,
      _ models: @escaping @Sendable () -> ModelSchema
    ) {
      self.store = store
      self.calendar = calendar
      self.limits = limits
      self.models = models
    }
  }

  private let parts: Parts

  private var store: Store { parts.store }
  private var calendar: Calendar { parts.calendar }
  private var limits: ServerLimits.Query { parts.limits }
  private func models() -> ModelSchema { parts.models() }

  init(
    store: Store, calendar: Calendar, limits: ServerLimits.Query, models: @escaping @Sendable () -> ModelSchema
  ) {
    parts = Parts(store, calendar, limits, models)
  }

  /// Makes several writes together, or none of them, as `GraphQLServer.transaction(_:)` does.
  ///
  /// Suspends until the transaction is durable.
  ///
  /// - Throws: `ServerError`, when the closure threw, took too long, or the store refused.
  @discardableResult
  public func transaction<Value: Sendable>(
    _ body: @escaping @Sendable (ServerTransaction) throws -> Value
  ) async throws(ServerError) -> Value {
    let (models, calendar, limits) = (models(), calendar, limits)
    let returned = Lock<Value?>(nil)
    let operation = WriteOperation.transaction { transaction in
      let value = try body(ServerTransaction(transaction, models, calendar, limits))
      returned.withLock { $0 = value }
    }
    _ = try await commit(operation)
    guard let value = returned.withLock({ $0 }) else {
      throw ServerError(.write, "The transaction was acknowledged without having run.")
    }
    return value
  }

  /// Appends an event of the application's own to the log, as `GraphQLServer.publish(topic:payload:)` does.
  ///
  /// Suspends until the event is durable.
  ///
  /// - Returns: its cursor.
  /// - Throws: `ServerError` when the store refuses it, or has been closed.
  @discardableResult
  public func publish(topic: String, payload: JSONValue) async throws(ServerError) -> Cursor {
    try await commit(.event(topic: topic, payload: payload))
  }

  /// The record with the key fields in `key`, as of the last durable write; nil when there is none.
  ///
  /// - Throws: `ServerError` when the model or a key field does not exist, or the store cannot be read.
  public func get(_ model: String, _ key: JSONObject) async throws(ServerError) -> JSONObject? {
    let model = try definition(model)
    let wanted: RecordKey
    do {
      wanted = try InputReader(model).key(key)
    } catch {
      throw ServerError(.write, "\(error)")
    }
    let number = model.number
    let stored: StoredRecord? = try await read { completion in
      ReadRequest(
        read: { snapshot throws(StoreError) in try snapshot.get(number, wanted) }, completion: completion)
    }
    return stored.map { RecordPage.object($0.record, model) }
  }

  /// A page of a model's records, as of the last durable write; `ServerTransaction.list` explains the arguments.
  ///
  /// - Throws: `ServerError` when the model or the index does not exist, the arguments mean nothing, or the store
  ///   cannot be read.
  public func list(
    _ model: String, _ arguments: JSONObject = JSONObject(), index: String? = nil
  ) async throws(ServerError) -> RecordPage {
    let model = try definition(model)
    let found = try RecordPage.index(index, of: model)
    let query: ListQuery
    do {
      query = try ListArguments(model: model, index: found, limits: limits, outcome: nil).query(arguments)
    } catch {
      throw ServerError(.write, "\(error)")
    }
    return RecordPage(try await read { ReadRequest(list: query, completion: $0) }, model)
  }

  private func definition(_ name: String) throws(ServerError) -> ModelDefinition {
    guard let model = models().models.first(where: { $0.name == name }) else {
      throw ServerError(.write, "The schema has no model \"\(name)\".")
    }
    return model
  }

  private func read<Value: Sendable>(
    _ request: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> ReadRequest
  ) async throws(ServerError) -> Value {
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
      store.read([request { continuation.resume(returning: $0) }], to: DirectDestination())
    }
    do {
      return try result.get()
    } catch {
      throw ServerError(.data, error.description)
    }
  }

  private func commit(_ operation: WriteOperation) async throws(ServerError) -> Cursor {
    let result = await withCheckedContinuation { continuation in
      store.commit(WriteRequest(operation)) { continuation.resume(returning: $0) }
    }
    switch result {
    case .success(let receipt):
      let position = store.position
      return Cursor(term: position.term, offset: receipt.offsets?.upperBound ?? position.head)
    case .failure(let error): throw ServerError(.write, error.description)
    }
  }
}
