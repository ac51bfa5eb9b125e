/// What happens in a store's sync. The names are those of Amplify's hub, and so are the payloads; what follows the last
/// of them, `conditionalSaveFailed`, the hub does not have.
public enum DataStoreEvent: Sendable, Hashable {
  /// Whether the server is followed.
  case networkStatus(active: Bool)
  /// Changes of the server are held from here on.
  case subscriptionsEstablished
  /// The sync of these models begins.
  case syncQueriesStarted(models: [String])
  /// A model has all that the server has. The numbers are of records that this store added, changed and removed.
  case modelSynced(
    modelName: String, isFullSync: Bool, isDeltaSync: Bool, added: Int, updated: Int, deleted: Int)
  /// All models are synced.
  case syncQueriesReady
  /// The engine runs.
  case syncStarted
  /// Both of the last two.
  case ready
  /// A change of the server was applied.
  case syncReceived(SyncedMutation)
  /// The upload of a write begins.
  case outboxMutationEnqueued(SyncedMutation)
  /// The server has a write.
  case outboxMutationProcessed(SyncedMutation)
  /// Whether writes wait for the server.
  case outboxStatus(isEmpty: Bool)
  /// The server refused a write because its condition does not hold.
  case conditionalSaveFailed(SyncedMutation)
  /// A model has reached `syncMaxRecords` and is not synced.
  case modelTruncated(modelName: String, limit: Int)
  /// A write has ended without the server having it: `rejected` for good, and among `rejectedWrites()`; `superseded` by
  /// a later one that left nothing of it to send, or by what the server has; `cleared` with the store.
  case outboxMutationFailed(SyncedMutation, WriteHandle.Ended.Reason)
  /// An attempt failed and will be repeated.
  case failed(DataStoreError)
  /// The engine has stopped, and only `start()` starts it again.
  case terminated(DataStoreError)

  /// A change of a record on its way to the server, or from it.
  public struct SyncedMutation: Sendable, Hashable {
    /// The number of the write in this store; nil for a change of the server.
    public var write: Int64?
    /// The model's name.
    public var modelName: String
    /// The record's identifier.
    public var modelId: String
    /// The record as JSON; nil for one that was deleted, and for a change of the server that has some fields only.
    public var json: String?
    /// The server's version of the record; nil for one that it does not have yet.
    public var version: Int64?
    /// When the server changed it, in milliseconds since 1970; nil where the server has not said.
    public var lastChangedAt: Int64?
    /// Whether the record is deleted.
    public var isDeleted: Bool
  }
}

/// How far a store's sync is.
public struct DataStoreSyncStatus: Sendable, Hashable {
  /// One model's sync.
  public struct Progress: Sendable, Hashable {
    /// Whether it has finished since `start()`.
    public var isSynced = false
    /// Records that its pages have brought in the present sync.
    public var received = 0
    /// Records that the present sync will bring, as far as the server has said; nil where it has not.
    public var expected: Int?
  }

  /// By the model's name.
  public var models: [String: Progress] = [:]
  /// Whether the server is followed.
  public var isConnected = false
  /// Whether this store has everything, and the server has everything: no write waits and no sync is owed.
  public var isSettled = false
  /// Writes that wait for the server.
  public var pendingCount = 0
  /// Whether another process runs the sync of this store's file.
  public var isElsewhere = false
  /// The last failure; nil once the server is followed again.
  public var lastError: DataStoreError?

  /// That of a store without a server.
  static let settled: DataStoreSyncStatus = {
    var status = DataStoreSyncStatus()
    status.isSettled = true
    return status
  }()

  /// Whether every model's sync has finished since `start()`.
  public var isSynced: Bool { models.values.allSatisfy(\.isSynced) }
}
