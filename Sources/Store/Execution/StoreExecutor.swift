/// Where the store works: one executor for its writer, one for each reader.
///
/// A thread of its own in production; a simulation gives executors that queue on its one seeded executor.
package protocol StoreExecutor: AnyObject, Sendable {
  /// Runs `work` later, after everything given before it and never beside it. From any thread.
  func execute(_ work: @escaping @Sendable () -> Void)
  /// Runs what was given, then ends. From any thread but the executor's own; returns when it has ended.
  func stop()
}

/// Where results go: one event loop, usually. Each destination is called once per group commit and once per list of
/// reads, so that a commit costs each loop one wake and not one per write.
package protocol StoreDestination: AnyObject, Sendable {
  /// Takes what the store has for this destination. Called on the store's writer or on a reader, in commit order.
  ///
  /// A loop posts one piece of work that calls `delivery.finish()` and applies `delivery.batch`.
  func deliver(_ delivery: StoreDelivery)
}
