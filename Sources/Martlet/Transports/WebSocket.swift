public import Foundation
public import MartletGraphQLClient

/// The address of a server's WebSocket and the protocol spoken over it.
///
///     let socket = WebSocket(url: url, webSocketProtocol: .graphqlWsProtocol)
///     let transport = WebSocketTransport(websocket: socket, connectingPayload: ["authToken": "…"])
public struct WebSocket: Sendable {
  /// The protocols, under the names the field gives them. They are not compatible with each other.
  public struct WebSocketProtocol: Sendable, Hashable {
    let dialect: WebSocketDialect

    /// The subprotocol `graphql-transport-ws` of the library graphql-ws, whose name this case has: the one to prefer.
    public static let graphqlWsProtocol = WebSocketProtocol(dialect: .graphqlTransportWS)
    /// The subprotocol `graphql-ws` of the older library subscriptions-transport-ws.
    public static let subscriptionWsProtocol = WebSocketProtocol(dialect: .graphqlWS)
    /// AppSync's, without fixed authorization.
    public static let appSync = WebSocketProtocol(dialect: .appSync())
    /// AppSync's.
    public static func appSync(_ configuration: AppSyncConfiguration) -> WebSocketProtocol {
      WebSocketProtocol(dialect: .appSync(configuration))
    }
  }

  /// The server's address: `ws:`, `wss:`, `http:` or `https:`.
  public var url: URL
  /// What is spoken there.
  public var webSocketProtocol: WebSocketProtocol
  /// More header fields of the opening handshake.
  public var headers: [(name: String, value: String)]

  /// An address and a protocol.
  public init(url: URL, webSocketProtocol: WebSocketProtocol, headers: [(name: String, value: String)] = []) {
    self.url = url
    self.webSocketProtocol = webSocketProtocol
    self.headers = headers
  }
}
