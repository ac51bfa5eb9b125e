public import Foundation
@_exported public import MartletCache
@_exported public import MartletHTTP

extension GraphQLClient {
  /// A client for a server at a `ws:`, `wss:`, `http:` or `https:` URL. Nothing is opened yet.
  ///
  /// The URL's scheme says how subscriptions travel, unless `configuration.subscriptionTransport` does; queries and
  /// mutations go by HTTP to the same host and path either way.
  ///
  ///     var configuration = ConnectionConfiguration()
  ///     configuration.credentials = { _ in .bearer(token) }
  ///     let client = try GraphQLClient(url: url, configuration: configuration)
  ///
  /// `store` keeps results of typed operations: in memory unless it is given another cache.
  /// - Throws: `invalidRequest` for other URLs, and for an authority file that cannot be read.
  public convenience init(
    url: URL, configuration: ConnectionConfiguration = ConnectionConfiguration(), store: GraphQLStore = GraphQLStore(),
    environment: ClientEnvironment? = nil
  ) throws(GraphQLClientError) {
    if configuration.subscribesByHTTP(url, environment) {
      try self.init(byHTTP: url, configuration, .requests(environment, configuration))
    } else {
      let connection = try GraphQLConnection(url, configuration, environment)
      self.init(networkTransport: WebSocketTransport(connection))
    }
    keep(store)
  }
}
