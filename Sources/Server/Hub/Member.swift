internal import MartletChangeFeed
internal import MartletVocabulary

/// One live subscription as its loop sees it: where it belongs, and up to where it has been served.
///
/// Confined to its loop.
package final class Member {
  /// The operation's number in its session.
  let number: Int
  /// `{"id":"…","type":"next","payload":`, encoded once.
  let prefix: [UInt8]
  /// Whether events carry cursors: the client asked for them.
  let hasCursors: Bool
  unowned let session: GraphQLSession
  /// Everything up to this offset that concerns the member has been written or does not exist.
  var since: Int64
  /// Reads on from `since` instead of taking what is announced.
  var isCatchingUp = false
  /// Says `ready` when it has caught up.
  var owesReady = false
  var id: MemberID?
  var group: GroupState?

  init(number: Int, prefix: [UInt8], hasCursors: Bool, session: GraphQLSession, since: Int64) {
    self.number = number
    self.prefix = prefix
    self.hasCursors = hasCursors
    self.session = session
    self.since = since
  }
}

/// An event's payload, encoded once for all members of a group.
package struct EncodedEvent {
  var offset: Int64
  var payload: [UInt8]
  /// `,"cursor":"…"}`, the same for all members that asked for cursors.
  var suffix: [UInt8]
}
