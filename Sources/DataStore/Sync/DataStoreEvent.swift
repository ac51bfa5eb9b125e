/// What happens in a store's sync. The names are those of Amplify's hub.
public enum DataStoreEvent: Sendable, Hashable {
  /// Whether the server is followed.
  case networkStatus(active: Bool)
  /// Changes of the server are held from here on.
  case subscriptionsEstablished
  /// The sync of these models begins.
  case syncQueriesStarted(models: [String])
  /// A model has all that the server has.
  case modelSynced(modelName: String, isFullSync: Bool, isDeltaSync: Bool, added: Int, deleted: Int)
  /// A model has reached `syncMaxRecords` and is not synced.
  case modelTruncated(modelName: String, limit: Int)
  /// All models are synced.
  case syncQueriesReady
  /// The engine runs.
  case syncStarted
  /// Both of the last two.
  case ready
  /// A change of the server was applied.
  case syncReceived(modelName: String, modelId: String, version: Int64, isDeleted: Bool)
  /// The upload of a write begins.
  case outboxMutationEnqueued(write: Int64)
  /// The server has a write.
  case outboxMutationProcessed(write: Int64)
  /// The server refused a write for good; it is a dead letter now.
  case outboxMutationFailed(write: Int64, RejectedWrite.Reason)
  /// Whether writes wait for the server.
  case outboxStatus(isEmpty: Bool)
  /// The server refused a write because its condition does not hold.
  case conditionalSaveFailed(write: Int64)
  /// An attempt failed and will be repeated.
  case failed(DataStoreError)
  /// The engine has stopped, and only `start()` starts it again.
  case terminated(DataStoreError)
}

/// How far a store's sync is.
public struct DataStoreSyncStatus: Sendable, Hashable {
  /// One model's sync.
  public struct Progress: Sendable, Hashable {
    /// Whether it has finished since `start()`.
    public var isSynced = false
    /// Records that its pages have brought in the present sync.
    public var received = 0
  }

  /// By the model's name.
  public var models: [String: Progress] = [:]
  /// Whether the server is followed.
  public var isConnected = false
  /// Whether this store has everything, and the server has everything: no write waits and no sync is owed.
  public var isSettled = false
  /// Writes that wait for the server.
  public var pendingCount = 0
  /// The last failure; nil once the server is followed again.
  public var lastError: DataStoreError?

  /// Whether every model's sync has finished since `start()`.
  public var isSynced: Bool { models.values.allSatisfy(\.isSynced) }
}
