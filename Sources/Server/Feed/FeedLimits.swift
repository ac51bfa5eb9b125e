package import MartletChangeFeed

/// The bounds of a feed, with their defaults. `ServerLimits` sets those of a server.
package struct FeedLimits: Sendable {
  /// Members visited in one loop turn, or events written to them when they are more. About 2 ms of encoding.
  package var deliveriesPerTurn = 16_384
  /// Connections written to in one loop turn. A send costs 8 to 15 us, so that other requests wait about 1 ms.
  package var sendsPerTurn = 64
  /// Work on matching changes with subscriptions in one loop turn: looking a change up counts 1, encoding an event for
  /// a group 8 more. About 1 ms.
  package var matchingWorkPerTurn = 2_048
  /// Bytes of batches taken from memory in one step of a catch-up.
  package var catchUpBytes = 131_072
  /// Changes read from the log in one step of a catch-up.
  package var catchUpChanges = 1_000
  /// Pages of the log kept for members that catch up: enough for the returning clients of one restart, bounded because
  /// each can have a MiB.
  package var catchUpPages = 64
  /// Bytes of events that members have caught up with, kept for the others of their groups: some thousand events. What
  /// is not kept is encoded again.
  package var catchUpEventBytes = 1_048_576
  /// How much the index of subscriptions takes.
  package var index = SubscriptionIndexLimits()
  /// Work on catch-ups in one loop turn: comparing a change with a member counts 1, writing it an event 16 more. About
  /// 3 ms.
  package var catchUpWorkPerTurn = 16_384
  /// How long a catch-up waits before it asks a store again that has refused a read for overload. Short against a
  /// person's patience, long against the time of a read.
  package var readRetry: Duration = .milliseconds(50)
  /// Commits whose moments are remembered: more than wait for an evaluation. Events of older ones are not measured.
  package var measuredGroups = 64

  package init() {}
}
