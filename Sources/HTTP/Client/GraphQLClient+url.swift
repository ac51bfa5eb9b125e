public import Foundation
@_exported public import MartletGraphQLClient

extension GraphQLClient {
  /// A client for a server at an `http:` or `https:` URL, which does everything by HTTP: subscriptions as well, each as
  /// one response in parts. Nothing is opened yet.
  ///
  ///     var configuration = ConnectionConfiguration()
  ///     configuration.credentials = { _ in .bearer(token) }
  ///     let client = try GraphQLClient(url: url, configuration: configuration)
  ///
  /// WebSockets are another library: programs that import `Martlet` have this initialiser for `ws:` and `wss:` URLs
  /// too.
  /// - Throws: `invalidRequest` for other URLs, for a configuration that means a WebSocket, and for an authority file
  ///   that cannot be read.
  @_disfavoredOverload
  public convenience init(
    url: URL, configuration: ConnectionConfiguration = ConnectionConfiguration(), environment: ClientEnvironment? = nil
  ) throws(GraphQLClientError) {
    _ = try GraphQLEndpoint(url.absoluteString)
    guard configuration.subscribesByHTTP(url, environment) else {
      throw GraphQLClientError(
        .invalidRequest, "\(url.absoluteString) with this configuration means a WebSocket: import Martlet for it")
    }
    try self.init(byHTTP: url, configuration, environment)
  }

  /// A client that does everything by HTTP; nil for `environment` is the process's own.
  package convenience init(
    byHTTP url: URL, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment?
  ) throws(GraphQLClientError) {
    let http = HTTPTransport(url, configuration, in: .http(environment, configuration))
    try http.check()
    // No interceptors by default.
    self.init(
      networkTransport: RequestChainNetworkTransport(http, provider: DefaultInterceptorProvider(interceptors: [])))
  }
}

extension Result where Success == ClientEnvironment, Failure == GraphQLClientError {
  /// The environment of a client that speaks HTTP alone, or why there is none.
  static func http(_ given: ClientEnvironment?, _ configuration: ConnectionConfiguration) -> Self {
    Result { () throws(GraphQLClientError) in try ClientEnvironment.http(given, configuration) }
  }
}
