internal import MartletRuntime
internal import MartletStore

/// A feed's destination for an operation that runs on no loop: the completions of its reads and writes run on the
/// concurrent pool. From any thread.
final class AwayDestination: StoreDestination {
  /// The destination of the loop whose operation it is.
  let feed: FeedDestination
  private let spawner: any Spawner

  init(_ feed: FeedDestination, _ spawner: any Spawner) {
    self.feed = feed
    self.spawner = spawner
  }

  func deliver(_ delivery: StoreDelivery) {
    spawner.spawn { delivery.finish() }
  }
}

extension StoreDestination {
  /// The feed's destination that this is, or stands for.
  var ofFeed: FeedDestination? { self as? FeedDestination ?? (self as? AwayDestination)?.feed }
}
