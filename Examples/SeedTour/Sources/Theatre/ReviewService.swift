import Foundation
import Martlet

/// One client for the whole program: subscriptions by WebSocket, everything else and files by HTTP.
///
/// The payload that authorises the WebSocket is fixed when the transport is made. Another token needs another
/// transport, or `WebSocketTransport.updateConnectingPayload`.
@MainActor final class ReviewService {
  /// What every part of the program uses. An application has one address and says `let`; the tour goes to several
  /// servers.
  static var shared = ReviewService(
    http: URL(fileURLWithPath: "/nowhere"), socket: URL(fileURLWithPath: "/nowhere"))

  private let http: URL
  private let socket: URL
  private let webSocketProtocol: Dialect
  private let token: String?

  init(
    http: URL, socket: URL, webSocketProtocol: Dialect = .graphqlWsProtocol, token: String? = nil
  ) {
    self.http = http
    self.socket = socket
    self.webSocketProtocol = webSocketProtocol
    self.token = token
  }

  /// For a server of the tour, with its key as token.
  convenience init(_ server: ServeProcess, webSocketProtocol: Dialect = .graphqlWsProtocol) {
    self.init(
      http: server.url(scheme: "http"), socket: server.url, webSocketProtocol: webSocketProtocol, token: server.key)
  }

  /// The socket, for subscriptions.
  private(set) lazy var webSocketTransport: WebSocketTransport = {
    let webSocketClient = WebSocket(url: socket, webSocketProtocol: webSocketProtocol)
    guard let token else { return WebSocketTransport(websocket: webSocketClient) }
    let authPayload = ["authToken": token]
    return WebSocketTransport(websocket: webSocketClient, connectingPayload: authPayload)
  }()

  /// HTTP, for queries and mutations, which carry the token in a header field.
  private lazy var normalTransport: RequestChainNetworkTransport = {
    var configuration = ConnectionConfiguration()
    if let token { configuration.headers.append((name: "Authorization", value: "Bearer \(token)")) }
    return RequestChainNetworkTransport(
      interceptorProvider: DefaultInterceptorProvider(store: self.store), endpointURL: http,
      configuration: configuration)
  }()

  /// Both as one transport.
  private lazy var splitNetworkTransport = SplitNetworkTransport(
    uploadingNetworkTransport: self.normalTransport, webSocketNetworkTransport: self.webSocketTransport)

  /// The client.
  private(set) lazy var client = GraphQLClient(networkTransport: self.splitNetworkTransport, store: self.store)

  /// What the client and its HTTP transport share.
  private lazy var store = GraphQLStore()
}
