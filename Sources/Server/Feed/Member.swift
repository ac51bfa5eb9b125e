internal import MartletChangeFeed

/// One live subscription in a feed: its group, and the offset up to which it has been served.
///
/// Confined to its loop.
package final class Member {
  /// The subscription's number, which the subscriber gave it.
  package let number: Int
  /// The bytes the subscriber writes before each payload, encoded once.
  package let prefix: [UInt8]
  /// Whether the client asked for cursors, so that events carry theirs and gaps can be reported.
  package let hasCursors: Bool
  package unowned let subscriber: any Subscriber
  /// Everything up to this offset that concerns the member has been written or does not exist.
  package internal(set) var since: Int64
  /// Reads on from `since`; events are not written directly.
  package internal(set) var isCatchingUp = false
  /// `caughtUp` has to be called when the member is live.
  var owesReady = false
  var id: MemberID?
  var group: (any FeedGroup)?

  /// A member that has been served up to `since`.
  package init(number: Int, prefix: [UInt8], hasCursors: Bool, subscriber: any Subscriber, since: Int64) {
    self.number = number
    self.prefix = prefix
    self.hasCursors = hasCursors
    self.subscriber = subscriber
    self.since = since
  }
}
