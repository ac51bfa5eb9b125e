public import MartletJSON

/// How a client keeps its WebSocket. Every deadline and bound of the connection is here.
public struct ConnectionConfiguration: Sendable {
  /// Time for name, connection, TLS and the WebSocket handshake of one attempt.
  public var openTimeout = Duration.seconds(15)
  /// Time the server has to acknowledge `connection_init`; without it a silent server would hold callers for ever.
  public var acknowledgementTimeout = Duration.seconds(10)
  /// Silence after which a ping asks the server for life; nil never asks.
  public var pingInterval: Duration? = .seconds(15)
  /// Silence after a ping by which the connection counts as dead.
  public var pongTimeout = Duration.seconds(10)
  /// How lost connections are dialled again.
  public var reconnect = ReconnectPolicy()
  /// Asked for credentials at every attempt.
  public var credentials: CredentialProvider?
  /// Time the provider has; a hanging one must not hold callers for ever.
  public var credentialTimeout = Duration.seconds(30)
  /// What `connection_init` carries besides the credentials' payload.
  public var connectingPayload = JSONObject()
  /// More header fields of the handshake.
  public var headers: [(name: String, value: String)] = []
  /// Closes a connection that has had no operation for so long; nil keeps it.
  public var idleTimeout: Duration?
  /// Asks servers for cursors, so that subscriptions resume without a gap.
  public var resumes = true
  /// Bound of each subscription's buffer, unless it names its own.
  public var buffer = BufferPolicy()
  /// Longest message accepted from the server.
  public var messageBytes = 16 << 20

  /// The defaults.
  public init() {}
}
