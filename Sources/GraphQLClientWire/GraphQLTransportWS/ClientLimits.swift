import MartletJSON

extension GraphQLTransportWS {
  /// Bounds and deadlines of one client connection.
  package struct ClientLimits: Sendable {
    /// How long the server may take to acknowledge.
    package var acknowledgementTimeout: Duration = .seconds(10)
    /// Silence after which a ping asks for life; nil never asks.
    package var pingInterval: Duration? = .seconds(15)
    /// How long a ping may stay without any message from the server.
    package var pongTimeout: Duration = .seconds(10)
    /// Longest message accepted: results can be larger than requests.
    package var messageBytes = 16 << 20
    /// Deepest nesting of a message.
    package var messageDepth = 128

    package init() {}

    var json: JSONLimits { .message(bytes: messageBytes, depth: messageDepth) }
  }
}
