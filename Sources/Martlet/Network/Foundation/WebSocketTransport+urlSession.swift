public import Foundation
package import MartletFoundationNetwork
public import MartletGraphQLClient
public import MartletGraphQLStore

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension WebSocketTransport {
  /// A transport whose sockets and requests go by sessions made from a session's configuration: its proxies, cookies,
  /// cache and additional header fields. The session itself is not used, because its own delegate would get the data;
  /// its delegate gets the challenges and metrics of the new ones, with the new session and its tasks as arguments.
  ///
  /// The session's additional header fields come after those of `configuration`, which win; like these, they go to no
  /// other origin that a redirect names.
  ///
  /// - Parameters:
  ///   - urlSession: the session whose configuration is taken over.
  ///   - store: the store of the client; subscriptions write to it on request.
  ///   - endpointURL: the server's address.
  ///   - configuration: every other setting. The session's request time-out takes the place of its `openTimeout`. A
  ///     server must satisfy both its `authorityFile` and `pinnedPublicKeys` and the session's delegate.
  /// - Throws: `invalidRequest` for other URLs than `ws:`, `wss:`, `http:` and `https:`, for settings that the
  ///   system's network does not take, for a background session, which has neither streams nor WebSockets, and for
  ///   header fields of the session that would break a request.
  public convenience init(
    urlSession: URLSession, store: GraphQLStore, endpointURL: URL,
    configuration: ConnectionConfiguration = WebSocketTransport.configuration
  ) throws(GraphQLClientError) {
    try self.init(urlSession, endpointURL, configuration) { session, delegation in
      SessionSockets(on: FoundationEnvironment.loop, configuration: session, delegation: delegation)
    }
  }

  /// - Parameter sockets: makes the tasks of WebSockets; called once.
  package convenience init(
    _ urlSession: URLSession, _ endpointURL: URL, _ configuration: ConnectionConfiguration,
    sockets: (URLSessionConfiguration, SessionDelegation) -> any SocketTasks
  ) throws(GraphQLClientError) {
    var configuration = configuration
    let session = try urlSession.configuration.with(configuration)
    configuration.headers += try session.takeFields(besides: configuration.headers)
    // A session may have no time-out at all, which is not a duration: at most a day, at least a second.
    let seconds = session.timeoutIntervalForRequest
    configuration.openTimeout = .seconds(seconds > 1 ? min(seconds, 86_400) : 1)
    let delegation = SessionDelegation(trust: try TrustRules(configuration), observer: urlSession.delegate)
    var environment = FoundationEnvironment.make(sessions: session, delegation: delegation)
    environment.sockets = SystemSockets(sockets(session, delegation))
    try self.init(url: endpointURL, configuration: configuration, environment: environment)
  }
}
