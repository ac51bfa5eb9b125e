public import MartletGraphQLClient
internal import MartletJSON
internal import MartletSyncEngine

/// Settings of a store's sync, with the names and defaults of Amplify's DataStore.
///
///     let configuration = DataStoreConfiguration.custom(
///       conflictHandler: { _ in .retryLocal }, syncExpressions: [.syncExpression(Post.self) { Post.keys.rating > 3 }])
public struct DataStoreConfiguration: Sendable {
  /// How long after a model's last sync its next one is in full, although what has changed would do: 24 hours.
  public var syncInterval: Duration = .seconds(86_400)
  /// Records of one model that a sync brings at most; nil, the default, for no limit, where the original has 10,000 and
  /// loses what is beyond them. A model with more is reported as truncated, by an event and to `errorHandler`, and is
  /// never synced. New records come all the same, and so do changes of those that are here; changes of the others may
  /// not.
  public var syncMaxRecords: Int?
  /// Records asked for with one page. A server may give fewer.
  public var syncPageSize: Int = 1_000
  /// Which records of a model this store keeps; all where there is no expression. Asked at each start.
  public var syncExpressions: [DataStoreSyncExpression] = []
  /// Decides what becomes of a write that met another version at the server. Default: the server's record stays.
  public var conflictHandler: DataStoreConflictHandler = { _ in .applyRemote }
  /// Called with each failure that no call of the application reports, with each model that `syncMaxRecords` truncates,
  /// and with each write that the server has refused for good, unless the conflict handler has decided so. Default:
  /// nothing; `DataStore.events` has them, too.
  public var errorHandler: @Sendable (DataStoreError) -> Void = { _ in }
  /// How long `observeQuery` collects what a sync changes before it gives a snapshot.
  public var snapshotInterval: Duration = .seconds(2)
  /// How many changes of a sync make a snapshot without waiting for the interval: those of one page.
  public var snapshotChanges: Int = 1_000
  /// The delay before a failed attempt is repeated for the first time; each further one doubles it.
  public var retryDelay: Duration = .milliseconds(100)
  /// At most this much is added to a delay by chance, so that clients do not come back together.
  public var retryJitter: Duration = .milliseconds(100)
  /// The longest delay between attempts. They never end for a network that is away and a server without capacity.
  public var longestRetryDelay: Duration = .seconds(300)
  /// How often a write is sent at which the server fails with an internal error. Then it is refused and among
  /// `rejectedWrites()`, so that the writes after it are sent: 12, the first time and the original's eleven retries,
  /// about three and a half minutes.
  public var faultedAttempts: Int = 12

  /// The defaults.
  public init() {}

  /// The defaults.
  public static var `default`: DataStoreConfiguration { DataStoreConfiguration() }

  /// Settings by the original's function; what is left out has its default.
  public static func custom(
    errorHandler: @escaping @Sendable (DataStoreError) -> Void = { _ in },
    conflictHandler: @escaping DataStoreConflictHandler = { _ in .applyRemote },
    syncInterval: Duration = .seconds(86_400), syncMaxRecords: Int? = nil, syncPageSize: Int = 1_000,
    syncExpressions: [DataStoreSyncExpression] = []
  ) -> DataStoreConfiguration {
    var configuration = DataStoreConfiguration()
    configuration.errorHandler = errorHandler
    configuration.conflictHandler = conflictHandler
    configuration.syncInterval = syncInterval
    configuration.syncMaxRecords = syncMaxRecords
    configuration.syncPageSize = syncPageSize
    configuration.syncExpressions = syncExpressions
    return configuration
  }

  var retry: RetryDelay {
    var retry = RetryDelay()
    retry.base = retryDelay
    retry.jitter = retryJitter
    retry.longest = longestRetryDelay
    return retry
  }
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

  /// The same by the original's function.
  public static func syncExpression<M: Model>(
    _ type: M.Type, where predicate: @escaping @Sendable () -> QueryPredicate
  ) -> DataStoreSyncExpression {
    DataStoreSyncExpression(type, where: predicate)
  }
}

/// A local write and the server's record that it was not made for.
public struct DataStoreConflict: Sendable {
  /// The model's name.
  public let modelName: String
  /// The record's identifier.
  public let modelId: String
  /// What the write does to the record.
  public let mutationType: MutationEvent.MutationType
  /// The record as the write leaves it, without later writes; nil for a deletion. As JSON.
  public let local: String?
  /// The server's record, also one that the sync expression leaves out; a handler is not asked about one that was
  /// deleted. As JSON.
  public let remote: String?
  /// How often the application has answered a conflict of this write already.
  public let attempt: Int

  /// The record as the write leaves it, without later writes, as a value of its model; nil for a deletion.
  /// - Throws: `DataStoreError.decodingError`.
  public func local<M: Model>(as type: M.Type) throws -> M? { try Self.decode(local, as: type) }

  /// The server's record as a value of its model.
  /// - Throws: `DataStoreError.decodingError`.
  public func remote<M: Model>(as type: M.Type) throws -> M? { try Self.decode(remote, as: type) }

  private static func decode<M: Model>(_ json: String?, as type: M.Type) throws -> M? {
    guard let json else { return nil }
    do {
      return try JSONDecoding(types: .foundation).decode(type, from: JSONValue(parsing: Array(json.utf8)))
    } catch {
      throw DataStoreError(.decodingError, "the record of a conflict does not decode as \(type): \(error)")
    }
  }
}

/// What becomes of such a write.
public enum DataStoreConflictResolution: Sendable {
  /// The server's record stays; the write becomes a dead letter.
  case applyRemote
  /// The local change is made again on the server's record: elements that it added to a list are added, members that it
  /// changed are changed, and fields that a creation gave no value for stay.
  case retryLocal
  /// These values of the record are written in place of the local change. One of another record counts as
  /// `applyRemote` and is reported as a failure.
  case retry(any Model)
}

/// Answers a conflict; may suspend. The writes after it wait meanwhile.
public typealias DataStoreConflictHandler = @Sendable (DataStoreConflict) async -> DataStoreConflictResolution
