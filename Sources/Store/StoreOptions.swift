/// How a store is opened.
package struct StoreOptions: Sendable {
  /// The random name of an authority's term, from the caller's source of chance; a follower has none of its own.
  package var term: UInt64
  package var clock: StoreClock
  package var limits = StoreLimits()
  /// The schema's name for the folder's catalogue, a hash for instance; for people reading the file.
  package var schemaName = ""
  /// The schema's text, for the log: other stores and people can read there what a migration was made for.
  package var schemaText = ""
  /// Allows a migration to delete models and fields that the schema no longer has, with their data.
  package var allowsDropping = false
  /// Opens data in which records share what a one-to-one relation gives to one of them. The relation is not kept unique
  /// until they are repaired, and each opening reports a warning.
  package var allowsDuplicates = false
  /// Called while the store is opened or migrated, with what an operator should repair.
  package var onWarning: @Sendable (String) -> Void = { _ in }
  /// The writer's executor.
  package var writer: any StoreExecutor
  /// One executor for each reader of records by key and of the log.
  package var readers: [any StoreExecutor]
  /// One executor for each reader of lists; `readers` read them when there is none.
  package var listReaders: [any StoreExecutor] = []
  /// The executor of checkpoints; nil runs them on the writer, between groups.
  package var checkpointer: (any StoreExecutor)?
  /// Called once, on the writer, when the disk failed: nothing more is acknowledged and the process should end.
  package var onFailure: @Sendable (StoreError) -> Void = { _ in }
  /// Called on the writer when groups begin to be refused, with the reason: the disk is full, or the data files are
  /// gone. Called with nil when a group is written again.
  package var onTrouble: @Sendable (StoreError?) -> Void = { _ in }
  /// Called on a reader's executor when the log turns out to be damaged, once for each offset.
  package var onDamage: @Sendable (LogDamage) -> Void = { _ in }
  /// Makes a store in a folder that holds other files; an empty or missing folder needs no permission.
  package var allowsCreating = false
  /// Returns the ledger of an authority; called once, at opening. Nil keeps the log in the folder alone.
  package var ledger: (@Sendable () -> any Ledger)?

  package init(term: UInt64, clock: StoreClock, writer: any StoreExecutor, readers: [any StoreExecutor]) {
    self.term = term
    self.clock = clock
    self.writer = writer
    self.readers = readers
  }

  /// With threads of the store's own, as in production.
  package init(term: UInt64, clock: StoreClock, limits: StoreLimits = StoreLimits()) {
    self.init(
      term: term, clock: clock, writer: StoreThread(),
      readers: (0..<max(1, limits.readers)).map { _ in StoreThread() })
    self.limits = limits
    listReaders = (0..<max(1, limits.readers)).map { _ in StoreThread(niceness: limits.listNiceness) }
    checkpointer = StoreThread()
  }
}
