public import Foundation
public import MartletGraphQLClient
public import MartletGraphQLStore

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension WebSocketTransport {
  /// A transport configured like a session: its additional header fields go with the handshake, its request time-out
  /// bounds it. The sockets are this library's own, so that a session's cookies, caches and delegates have no part.
  ///
  /// - Parameters:
  ///   - urlSession: the session whose configuration is taken over.
  ///   - store: the store of the client; subscriptions write to it on request.
  ///   - endpointURL: the server's address.
  ///   - configuration: every other setting. The session's header fields come after its own, and the
  ///     session's time-out takes the place of its `openTimeout`.
  /// - Throws: `invalidRequest` for other URLs than `ws:`, `wss:`, `http:` and `https:`, for a session with a proxy,
  ///   which is not supported, and for a background session, which Apple platforms refuse.
  public convenience init(
    urlSession: URLSession, store: GraphQLStore, endpointURL: URL,
    configuration: ConnectionConfiguration = WebSocketTransport.configuration
  ) throws(GraphQLClientError) {
    let session = urlSession.configuration
    if let proxies = session.connectionProxyDictionary, !proxies.isEmpty {
      throw GraphQLClientError(.invalidRequest, "the session has a proxy, which a WebSocketTransport cannot use")
    }
    guard session.identifier == nil else {
      throw GraphQLClientError(
        .invalidRequest, "the session is a background session, which has neither streams nor WebSockets")
    }
    var configuration = configuration
    // A session may have no time-out at all, which is not a duration: at most a day, at least a second.
    let seconds = session.timeoutIntervalForRequest
    configuration.openTimeout = .seconds(seconds > 1 ? min(seconds, 86_400) : 1)
    for (name, value) in session.httpAdditionalHeaders ?? [:] {
      configuration.headers.append((name: "\(name)", value: "\(value)"))
    }
    try self.init(url: endpointURL, configuration: configuration)
  }
}
