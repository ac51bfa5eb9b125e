public import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletStore

/// A value computed over the records that a predicate selects.
public struct DataStoreAggregate: Sendable, Hashable {
  enum Kind: Sendable, Hashable { case count, sum, average, minimum, maximum }

  let kind: Kind
  let field: String

  /// How many records there are.
  public static var count: DataStoreAggregate { DataStoreAggregate(kind: .count, field: "") }
  /// The sum of a field's numbers, without rounding errors: a whole number where all values are.
  public static func sum(_ key: some ModelKey) -> DataStoreAggregate {
    DataStoreAggregate(kind: .sum, field: key.stringValue)
  }
  /// The mean of a field's numbers; null when no record has one.
  public static func average(_ key: some ModelKey) -> DataStoreAggregate {
    DataStoreAggregate(kind: .average, field: key.stringValue)
  }
  /// The least value of a field; null when no record has one.
  public static func minimum(_ key: some ModelKey) -> DataStoreAggregate {
    DataStoreAggregate(kind: .minimum, field: key.stringValue)
  }
  /// The greatest value of a field; null when no record has one.
  public static func maximum(_ key: some ModelKey) -> DataStoreAggregate {
    DataStoreAggregate(kind: .maximum, field: key.stringValue)
  }
}

extension DataStore {
  /// Values over the records that fulfil the predicate, in the order of `functions`.
  ///
  ///     let post = Post.keys
  ///     let values = try await store.aggregate([.count, .average(post.rating)], of: Post.self)
  public func aggregate<M: Model>(
    _ functions: [DataStoreAggregate], of type: M.Type, where predicate: QueryPredicate? = nil
  ) async throws(DataStoreError) -> [JSONValue] {
    let room = try open()
    let query = try room.mapping(type).aggregate(functions, predicate)
    room.resume()
    return try await room.read { store in
      var aggregate = LiveAggregate(query)
      try StoreStreams.fill(&aggregate, store)
      return aggregate.take() ?? []
    }
  }

  /// The same values now, and again after every commit that changes one of them.
  public func observeAggregate<M: Model>(
    _ functions: [DataStoreAggregate], of type: M.Type, where predicate: QueryPredicate? = nil
  ) -> MartletAsyncThrowingSequence<[JSONValue]> {
    let core = SubscriptionCore(BufferPolicy())
    do {
      let room = try open()
      let consumer = room.streams.observe(try room.mapping(type).aggregate(functions, predicate), core)
      room.sync?.observationBegins()
      return SubscriptionStream(core: core) { _ in room.streams.takeValues(consumer) }
    } catch {
      core.leave(.error(error))
      return SubscriptionStream(core: core) { _ in throw error }
    }
  }
}
