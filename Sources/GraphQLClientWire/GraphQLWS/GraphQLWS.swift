/// The WebSocket protocol `graphql-ws` of subscriptions-transport-ws: the older one, which clients still speak.
package enum GraphQLWS {
  /// The subprotocol's name. The newer protocol of the library of this name is `graphql-transport-ws`.
  package static let subprotocol = "graphql-ws"

  /// Whether a message type shows that a server speaks this protocol, or AppSync's, and not the newer one.
  static func isTelling(_ type: String) -> Bool {
    switch type {
    case "ka", "data", "connection_error", "start_ack": true
    default: false
    }
  }

  /// Whether a message type shows that a server speaks the newer protocol.
  static func isOfGraphQLTransportWS(_ type: String) -> Bool {
    switch type {
    case "next", "ping", "pong": true
    default: false
    }
  }

  package typealias ClientLimits = StartStopClientLimits
}
