import MartletJSON

extension GraphQLTransportWS {
  /// Bounds and deadlines of one server connection.
  package struct ServerLimits: Sendable {
    /// How long a client may take to send `connection_init`; the reference's three seconds.
    package var initialisationTimeout: Duration = .seconds(3)
    /// Operations of one connection at a time, those being prepared included. One more is answered by `error`.
    package var operations = 100
    /// Longest operation id in bytes: it is repeated in every event.
    package var idBytes = 256
    /// Longest message; the WebSocket machine refuses longer ones earlier where its own limit is lower.
    package var messageBytes = 1 << 20
    /// Deepest nesting of a message.
    package var messageDepth = 64
    /// Time between keep-alives that carry a negotiated client's position, so that a quiet filter does not fall out
    /// of retention; nil for none.
    package var positionInterval: Duration? = .seconds(20)

    package init() {}

    var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
  }
}
