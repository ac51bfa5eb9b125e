internal import Foundation
package import MartletGraphQLClient

/// The proxy of a client's configuration, as a session's configuration has it.
package struct SystemProxy: Sendable, Equatable {
  package var host: String
  package var port: Int

  /// The port of a proxy whose URL has none: libcurl's, so that a URL means the same over both networks.
  private static let defaultPort = 1080

  /// Whether sessions use the proxy of their configuration. Foundation on Linux does not.
  #if canImport(FoundationNetworking)
    package static let isAvailable = false
  #else
    package static let isAvailable = true
  #endif

  /// - Parameter text: a URL, as `ConnectionConfiguration.proxy` has it.
  /// - Throws: `invalidRequest` for what a session cannot do: TLS to the proxy, and a name and password in the URL. A
  ///   session's delegate is asked for these.
  package init(_ text: String) throws(GraphQLClientError) {
    guard let url = URLComponents(string: text), url.scheme?.lowercased() == "http", let host = url.host, !host.isEmpty
    else {
      throw GraphQLClientError(.invalidRequest, "the system's network takes an http: URL as a proxy")
    }
    guard url.user == nil, url.password == nil else {
      throw GraphQLClientError(
        .invalidRequest,
        "the system's network takes no name and password in a proxy's URL: give the client a session, whose delegate is asked for them"
      )
    }
    self.host = host
    port = url.port ?? Self.defaultPort
  }

  /// The value of `connectionProxyDictionary`: for `http:` and `ws:`, and for `https:` and `wss:`. The keys are those
  /// of `kCFNetworkProxiesHTTPEnable` and its relatives, of which some systems declare only one half.
  package var dictionary: [String: any Sendable] {
    [
      "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port,
      "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port,
    ]
  }
}
