internal import MartletLiveQueries
internal import MartletModels

/// What a live query of a store is and has cost, for a console and for tests.
public struct LiveQueryFigures: Sendable, Hashable {
  /// The model's name.
  public var modelName: String
  /// Records that it shows; nil for aggregates.
  public var rows: Int?
  /// Records that it keeps: those that it shows, and some on both sides so that few changes need the store; nil for
  /// aggregates.
  public var rowsKept: Int?
  /// From `observeQuery` to the first result on this device: until the store's thread was free and had read it.
  public var localTime: Duration?
  /// From `observeQuery` to the end of the model's sync with a server; nil for stores without one, and before it.
  public var serverTime: Duration?
  /// From `observeQuery` to the latest change of the result.
  public var lastResultTime: Duration?
  /// Changes that concerned it.
  public var changes: Int
  /// Rows inserted, removed or replaced in what it keeps.
  public var rowsTouched: Int
  /// Rows that it has read from the store, the first result included.
  public var rowsRead: Int
  /// Times it has asked the store for rows, the first result included.
  public var requests: Int
  /// How SQLite finds its rows, one line per step.
  public var plan: [String]
}

extension DataStore {
  /// The live queries that have a consumer now, in the order in which they began.
  public func liveQueries() async throws(DataStoreError) -> [LiveQueryFigures] { try await open().figures() }
}
