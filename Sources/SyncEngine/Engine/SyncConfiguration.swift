/// Settings of the engine, with the original's names and defaults.
package struct SyncConfiguration: Sendable {
  /// A model that is synced.
  package struct Model: Sendable, Hashable {
    /// Positions of the models it belongs to.
    package var parents: [Int]
    /// A digest of the predicate that selects its records; empty for all.
    package var filter: [UInt8]

    package init(parents: [Int] = [], filter: [UInt8] = []) {
      self.parents = parents
      self.filter = filter
    }
  }

  package var models: [Model]
  /// Milliseconds after which a model is synced in full although a delta would do: 24 hours.
  package var syncInterval: Int64 = 24 * 60 * 60 * 1_000
  /// Records of one model at most; nil for no limit. A model that meets it is reported as truncated, never as synced.
  package var syncMaxRecords: Int?
  package var retry = RetryDelay()
  /// How often a write is sent at which the server fails: the first time and the original's eleven retries, about
  /// three and a half minutes. Then it is refused, so that it does not hold the writes after it for ever. A lost
  /// network and a server without capacity do not count.
  package var faultedAttempts = 12
  /// Changes of the feed that wait in memory for the syncs before them: some megabytes. Beyond it they are dropped, and
  /// the feed is followed again from where it began once the syncs are complete.
  package var heldChanges = 10_000

  package init(models: [Model]) { self.models = models }
}
