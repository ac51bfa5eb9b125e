internal import MartletGraphQLWire
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

/// An event of a GraphQL subscription: the result, encoded once for all members of a group, and compressed once for
/// those that asked for that.
final class GraphQLEvent: FeedEvent {
  /// `,"cursor":"…"}`, the same for all members on sockets that asked for cursors.
  let suffix: [UInt8]
  /// The payload with its cursor, the same for all members over HTTP that asked for cursors.
  private(set) lazy var marked = ResultContinuity.marked(payload, cursor, endsTransaction: endsTransaction)
  /// The payload compressed without earlier context, by window; nearly always one.
  private var deflated: [(windowBits: Int, bytes: [UInt8])] = []

  override init(_ payload: [UInt8], at cursor: Cursor, endsTransaction: Bool) {
    suffix = GraphQLTransportWS.NextMessage.suffix(cursor, endsTransaction: endsTransaction)
    super.init(payload, at: cursor, endsTransaction: endsTransaction)
  }

  /// The event of a group of GraphQL's, whose events are all of this class.
  static func of(_ event: FeedEvent) -> GraphQLEvent {
    guard let event = event as? GraphQLEvent else {
      preconditionFailure("events of a GraphQL group are GraphQL events")
    }
    return event
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
