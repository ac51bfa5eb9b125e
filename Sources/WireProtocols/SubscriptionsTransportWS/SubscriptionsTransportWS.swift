import MartletJSON

/// The WebSocket protocol `graphql-ws` of subscriptions-transport-ws: the older one, which clients still speak.
package enum SubscriptionsTransportWS {
  /// The subprotocol's name. The newer protocol of the library of this name is `graphql-transport-ws`.
  package static let subprotocol = "graphql-ws"

  /// Whether a message type tells that a server speaks this protocol, or AppSync's, and not the newer one.
  static func isTelling(_ type: String) -> Bool {
    switch type {
    case "ka", "data", "connection_error", "start_ack": true
    default: false
    }
  }

  /// Whether a message type tells that a server speaks the newer protocol.
  static func isOfTransportWS(_ type: String) -> Bool {
    switch type {
    case "next", "ping", "pong": true
    default: false
    }
  }

  /// Bounds and deadlines of one server connection.
  package struct ServerLimits: Sendable {
    /// How long a client may take to send `connection_init`.
    package var initialisationTimeout: Duration = .seconds(3)
    /// Operations of one connection at a time, those held back before the acknowledgement included.
    package var operations = 100
    /// Longest operation id in bytes: it is repeated in every event.
    package var idBytes = 256
    /// Longest message.
    package var messageBytes = 1 << 20
    /// Deepest nesting of a message.
    package var messageDepth = 64
    /// Between `ka` messages; nil sends none. Clients take 30 seconds of silence after the first one for death.
    package var keepAliveInterval: Duration? = .seconds(10)
    /// `connection_init` messages of one connection. The protocol answers each; a flood of them is closed.
    package var initialisations = 10
    /// Malformed messages of one connection. The protocol answers each; a flood of them is closed.
    package var faults = 100

    package init() {}

    var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
  }

  /// Bounds and deadlines of one client connection.
  package struct ClientLimits: Sendable {
    /// How long the server may take to acknowledge.
    package var acknowledgementTimeout: Duration = .seconds(10)
    /// Once a `ka` has come: the silence by which the server counts as dead.
    package var keepAliveTimeout: Duration = .seconds(30)
    /// Longest message accepted.
    package var messageBytes = 16 << 20
    /// Deepest nesting of a message.
    package var messageDepth = 128

    package init() {}

    var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
  }

  /// The bytes round an event's payload; behind it stands `EventSuffix.plain`.
  enum DataMessage {
    /// `{"id":"…","type":"data","payload":`
    static func prefix(_ id: OperationID) -> [UInt8] { MessageWriting.eventPrefix(id, "data") }
  }
}
