internal import MartletChangeFeed
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWireProtocols

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

/// An event's payload, encoded once for all members of a group, and compressed once for those that asked for that.
final class EncodedEvent {
  let offset: Int64
  let payload: [UInt8]
  /// `,"cursor":"…"}`, the same for all members on sockets that asked for cursors.
  let suffix: [UInt8]
  let cursor: Cursor
  let endsTransaction: Bool
  /// The payload with its place, the same for all members over HTTP that asked for cursors.
  private(set) lazy var marked = ResultContinuity.marked(payload, cursor, endsTransaction: endsTransaction)
  /// The payload compressed without earlier context, by window; nearly always one.
  private var deflated: [(windowBits: Int, bytes: [UInt8])] = []

  init(_ cursor: Cursor, payload: [UInt8], endsTransaction: Bool) {
    offset = cursor.offset
    self.payload = payload
    suffix = GraphQLTransportWS.NextMessage.suffix(cursor, endsTransaction: endsTransaction)
    self.cursor = cursor
    self.endsTransaction = endsTransaction
  }

  /// The payload compressed with a window, ending in a sync flush.
  func deflated(windowBits: Int, pool: ZlibPool) -> [UInt8] {
    if let known = deflated.first(where: { $0.windowBits == windowBits }) { return known.bytes }
    let agreed = WebSocketDeflate(serverNoContextTakeover: true, serverMaxWindowBits: windowBits)
    var bytes: [UInt8] = []
    ZlibCompression(agreed, isServer: true, pool: pool).compress(payload, into: &bytes)
    deflated.append((windowBits, bytes))
    return bytes
  }
}
