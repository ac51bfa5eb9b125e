package import MartletChangeFeed
package import MartletVocabulary

/// A connection that follows a feed: writes its members' events and reports how much it can take.
///
/// Confined to the feed's loop.
package protocol Subscriber: AnyObject {
  /// Whether a catch-up may write more now.
  var hasRoom: Bool { get }
  /// Whether so many bytes wait to be sent that no event is written directly. The feed then keeps each member's offset
  /// and reads on from there once `hasRoom`.
  var isLagging: Bool { get }
  /// Measures the events that are written to the subscriber as they are committed.
  var meter: DeliveryMeter { get }
  /// The members that follow `feed`, in the order in which they were started.
  func members(of feed: Feed) -> [Member]
  /// Appends an event to the outgoing bytes. Allocates nothing.
  func write(_ event: FeedEvent, to member: Member)
  /// Appends the events from position `first` on, which are committed together. Called for each member of a group with
  /// the same events; allocates nothing.
  func write(_ events: [FeedEvent], from first: Int, to member: Member)
  /// Everything up to `cursor` has been written to the member, and later events follow directly.
  func caughtUp(_ member: Member, at cursor: Cursor)
  /// The changes after `from` cannot be read. The member continues after `to`, unless the subscriber removes it.
  func gap(_ member: Member, _ reason: GapReason, from: Cursor?, to: Cursor)
  /// Calls `Feed.resume(_:)` in the next turn if there is room then, else when the outgoing bytes have been taken.
  func continueNextTurn()
}

extension Subscriber {
  package func write(_ events: [FeedEvent], from first: Int, to member: Member) {
    // By position: without optimisation an iterator allocates for each element, and tests count that.
    for position in first..<events.count { write(events[position], to: member) }
  }
}
