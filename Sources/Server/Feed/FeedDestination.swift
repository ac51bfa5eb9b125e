internal import MartletRuntime
package import MartletStore

/// What takes a store's deliveries on its loop, and the writes that wait for the end of the loop's turn.
protocol DeliveryReceiver: AnyObject {
  func receive(_ delivery: StoreDelivery)
  func add(_ write: StoreSubmission)
  func countRefusedWrite()
}

/// A feed as its store's destination: one wake of the feed's loop per delivery. From any thread.
package final class FeedDestination: StoreDestination {
  private let store: Store
  private let loop: any Loop
  private let feed = Lock<LoopBound<any DeliveryReceiver>?>(nil)

  init(_ store: Store, on loop: any Loop) {
    self.store = store
    self.loop = loop
  }

  func attach(_ feed: LoopBound<any DeliveryReceiver>) {
    self.feed.withLock { $0 = feed }
  }

  /// Releases the feed, which holds this object. Later deliveries only run their completions.
  func detach() {
    feed.withLock { $0 = nil }
  }

  /// Queues a write. Writes that are queued on the loop in one turn reach the store together when the turn ends.
  package func commit(_ write: StoreSubmission) {
    guard loop.isCurrent, let feed = feed.withLock({ $0 }) else { return store.commit([write], to: self) }
    feed.value.add(write)
  }

  /// Counts a write of this loop that the store refused because its queue was full.
  func countRefusedWrite() {
    let feed = feed.withLock { $0 }
    loop.execute { feed?.value.countRefusedWrite() }
  }

  package func deliver(_ delivery: StoreDelivery) {
    let feed = feed.withLock { $0 }
    loop.execute {
      guard let feed else { return delivery.finish() }
      feed.value.receive(delivery)
    }
  }
}
