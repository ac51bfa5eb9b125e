/// How far a model has been synced; stored with its rows.
package struct ModelProgress: Sendable, Hashable {
  /// The `startedAt` of the last complete sync, in the server's milliseconds; nil before the first.
  package var lastSync: Int64?
  /// When this client completed it, in milliseconds of its own wall clock.
  package var completedAt: Int64?
  /// A digest of the predicate it was synced with.
  package var filter: [UInt8]

  package init(lastSync: Int64? = nil, completedAt: Int64? = nil, filter: [UInt8] = []) {
    self.lastSync = lastSync
    self.completedAt = completedAt
    self.filter = filter
  }

  /// Whether the model was synced completely with this predicate.
  func isComplete(for filter: [UInt8]) -> Bool { lastSync != nil && self.filter == filter }
}

/// Which sync a model needs.
package enum SyncKind: Sendable, Hashable {
  /// All records. Rows that are not among them go: they were deleted, left the filter, or may no longer be read.
  case full
  /// What changed since the server's time `since`.
  case delta(since: Int64)

  /// Decides from what is stored. `now` is this client's wall clock in milliseconds, `interval` the age beyond which a
  /// full sync is owed.
  package static func decide(_ progress: ModelProgress, filter: [UInt8], now: Int64, interval: Int64) -> SyncKind {
    guard let since = progress.lastSync, let completed = progress.completedAt, progress.filter == filter,
      completed <= now, now - completed < interval
    else { return .full }
    return .delta(since: since)
  }
}
