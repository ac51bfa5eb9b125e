public import MartletGraphQLClient

/// Settings of a store's sync, with the names and defaults of Amplify's DataStore.
public struct DataStoreConfiguration: Sendable {
  /// Minutes after which a model is synced in full although what has changed would do.
  public var syncInterval: Int = 1_440
  /// Records of one model at most; nil for no limit. A model that reaches it is reported as truncated, never as synced.
  /// The original's 10,000 would leave larger models incomplete.
  public var syncMaxRecords: Int?
  /// Records asked for with one page.
  public var syncPageSize: Int = 1_000
  /// Which records of a model this store keeps, by the model's name; all where there is none. Asked at each start.
  public var syncExpressions: [DataStoreSyncExpression] = []
  /// Decides what becomes of a write that met another version at the server.
  public var conflictHandler: DataStoreConflictHandler = { _ in .applyRemote }
  /// Called with each failure that the application cannot see otherwise.
  public var errorHandler: @Sendable (DataStoreError) -> Void = { _ in }

  /// The defaults.
  public init() {}
}

/// The records of a model that a store keeps.
///
///     configuration.syncExpressions = [
///       DataStoreSyncExpression(Post.self) { Post.keys.rating > 3 }
///     ]
public struct DataStoreSyncExpression: Sendable {
  let modelName: String
  let predicate: @Sendable () -> QueryPredicate

  /// The records of `type` that fulfil a predicate. A changed predicate has the model synced in full, and records that
  /// no longer fulfil it leave the store.
  public init<M: Model>(_ type: M.Type, where predicate: @escaping @Sendable () -> QueryPredicate) {
    modelName = type.modelName
    self.predicate = predicate
  }
}

/// A local write and the server's record that it was not made for.
public struct DataStoreConflict: Sendable {
  /// The model's name.
  public let modelName: String
  /// The record's identifier.
  public let modelId: String
  /// The record as this store shows it; nil for a deletion. As JSON.
  public let local: String?
  /// The server's record; nil for one that was deleted. As JSON.
  public let remote: String?
  /// How often the application has answered a conflict of this write already.
  public let attempt: Int
}

/// What becomes of such a write.
public enum DataStoreConflictResolution: Sendable {
  /// The server's record stays; the write becomes a dead letter.
  case applyRemote
  /// The local change is made again on the server's record.
  case retryLocal
  /// This record is written in place of the local change.
  case retry(any Model)
}

/// Answers a conflict; may suspend. The writes after it wait meanwhile.
public typealias DataStoreConflictHandler = @Sendable (DataStoreConflict) async -> DataStoreConflictResolution
