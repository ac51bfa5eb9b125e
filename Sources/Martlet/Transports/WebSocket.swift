public import Foundation
public import MartletVocabulary

/// The address of a server's WebSocket and the protocol spoken over it.
///
///     let socket = WebSocket(url: url, webSocketProtocol: .graphqlWsProtocol)
///     let transport = WebSocketTransport(websocket: socket, connectingPayload: ["authToken": "…"])
public struct WebSocket: Sendable {
  /// The server's address: `ws:`, `wss:`, `http:` or `https:`.
  public var url: URL
  /// What is spoken there. AppSync's authorization is `ConnectionConfiguration.appSync`.
  public var webSocketProtocol: Dialect
  /// More header fields of the opening handshake.
  public var headers: [(name: String, value: String)]

  /// An address and a protocol.
  public init(url: URL, webSocketProtocol: Dialect, headers: [(name: String, value: String)] = []) {
    self.url = url
    self.webSocketProtocol = webSocketProtocol
    self.headers = headers
  }
}

extension Dialect {
  /// `graphqlTransportWS` under the name that Apollo's clients give it, after the library graphql-ws.
  public static var graphqlWsProtocol: Dialect { .graphqlTransportWS }
  /// `graphqlWS` under the name that Apollo's clients give it, after the library subscriptions-transport-ws.
  public static var subscriptionWsProtocol: Dialect { .graphqlWS }
}
