package import MartletChangeFeed
package import MartletVocabulary

/// What the store hands to one destination at once.
package struct StoreDelivery: Sendable {
  /// The durable changes of one group commit, for registered destinations. Apply it before the completions run.
  package var batch: ChangeBatch?
  /// The completions of writes and reads that were asked for by this destination, in order.
  package var completions: [@Sendable () -> Void]

  /// When the batch was durable, by the store's clock; nil for a delivery without one.
  package var committed: Instant?

  package init(batch: ChangeBatch?, completions: [@Sendable () -> Void], committed: Instant? = nil) {
    self.committed = committed
    self.batch = batch
    self.completions = completions
  }

  /// Runs the completions in order, on the caller's thread.
  package func finish() {
    for completion in completions { completion() }
  }
}

/// A destination that calls closures on the store's own thread, for tools and tests.
package final class DirectDestination: StoreDestination {
  private let publish: @Sendable (ChangeBatch) -> Void

  package init(publish: @escaping @Sendable (ChangeBatch) -> Void = { _ in }) {
    self.publish = publish
  }

  package func deliver(_ delivery: StoreDelivery) {
    if let batch = delivery.batch { publish(batch) }
    delivery.finish()
  }
}
