public import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletStore

/// Several reads and writes that happen together or not at all. Valid inside the closure that it was given to.
public struct DataStoreTransaction {
  let room: StoreRoom
  let transaction: ClientTransaction

  /// Creates or updates a record.
  /// - Throws: `DataStoreError`: `invalidCondition`, or `decodingError` for a value that could not be read again. The
  ///   transaction can continue after it.
  public func save<M: Model>(_ model: M, where condition: QueryPredicate? = nil) throws {
    let mapping = try room.mapping(M.self)
    let condition = try condition.map { try mapping.condition($0) }
    let record = try mapping.decodableRecord(model)
    try Self.typed {
      try transaction.save(
        model: mapping.shape.model, record, where: condition?.predicate, related: condition?.related ?? RelatedTerms(),
        form: mapping.form(M.self))
    }
  }

  /// Deletes a record. Returns whether it was there.
  @discardableResult
  public func delete<M: Model>(_ model: M, where condition: QueryPredicate? = nil) throws -> Bool {
    let mapping = try room.mapping(M.self)
    let condition = try condition.map { try mapping.condition($0) }
    let key = mapping.key(try mapping.record(model))
    return try Self.typed {
      try transaction.delete(
        model: mapping.shape.model, key, where: condition?.predicate, related: condition?.related ?? RelatedTerms())
    }
  }

  /// The record with this identifier, as the transaction has it.
  public func query<M: Model>(_ type: M.Type, byId id: String) throws -> M? {
    try query(type, byIdentifier: ModelIdentifier(id))
  }

  /// The record with this identifier, of one or several fields, as the transaction has it.
  public func query<M: Model>(_ type: M.Type, byIdentifier identifier: ModelIdentifier) throws -> M? {
    let mapping = try room.mapping(type)
    let key = try mapping.key(identifier)
    let rows = try Self.typed { try transaction.rows(mapping.query(key), .page(offset: 0, count: 1)).rows }
    return try rows.first.map { try mapping.model($0.record, as: type) }
  }

  /// The records that fulfil the predicate, as the transaction has them.
  public func query<M: Model>(
    _ type: M.Type, where predicate: QueryPredicate? = nil, sort: QuerySort? = nil, paginate page: QueryPage? = nil
  ) throws -> [M] {
    let mapping = try room.mapping(type)
    let query = try mapping.query(predicate, sort, page)
    let rows = try Self.typed { try transaction.rows(query, .page(offset: query.offset, count: query.limit)).rows }
    return try rows.map { try mapping.model($0.record, as: type) }
  }
}

extension DataStoreTransaction {
  /// Runs `body`, and gives the store's errors as those of `DataStore`.
  private static func typed<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as StoreError {
      throw DataStoreError(error)
    }
  }
}

extension DataStore {
  /// Runs `body` in one transaction over any of the store's models. Live queries see all of it or nothing.
  ///
  ///     try await store.transaction { transaction in
  ///       try transaction.save(post)
  ///       for comment in comments { try transaction.save(comment) }
  ///     }
  ///
  /// `body` runs on the store's thread, and every other write waits for it. Queries meanwhile read what was committed
  /// before; those of a store in memory, and the first snapshot of a live query, wait.
  /// - Throws: what `body` throws, and then nothing was changed; or `DataStoreError`.
  public func transaction<Value: Sendable>(
    _ body: @escaping @Sendable (DataStoreTransaction) throws -> Value
  ) async throws -> Value {
    let room = try open()
    room.resume()
    // The error comes back as the body threw it.
    let result: Result<Value, any Error> = try await room.perform(isWrite: true) { writer in
      Result { try room.transaction(writer) { try body(DataStoreTransaction(room: room, transaction: $0)) } }
    }
    do {
      return try result.get()
    } catch let error as StoreError {
      throw DataStoreError(error)
    }
  }
}
