internal import Foundation
package import MartletGraphQLClient
internal import MartletHTTPClient
internal import MartletLoop
internal import MartletRuntime

/// What every client of the process shares for HTTP: one loop, one libcurl.
enum HTTPEnvironment {
  /// Made at first use.
  static let result: Result<ClientEnvironment, GraphQLClientError> = {
    do throws(SocketError) {
      let loop = try EpollLoop.start(name: "martlet-client")
      var environment = ClientEnvironment(
        loop: loop, sockets: nil, http: nil, requests: .none, spawner: ConcurrentSpawner(), chance: .system)
      environment = environment.over(ProcessNetwork.security)
      environment.calendar = WallClock.milliseconds
      return .success(environment)
    } catch {
      return .failure(GraphQLClientError(.connectFailed, "the system has no room for a loop", underlying: error))
    }
  }()
}

/// What the process's variables say about its network.
package enum ProcessNetwork {
  /// `SSL_CERT_FILE`, the authorities in place of the system's, as OpenSSL's programs read it.
  static let security: CurlSecurity = {
    var security = CurlSecurity()
    if let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !file.isEmpty { security.authorityFile = file }
    return security
  }()

  /// Whether a variable names a proxy: whom it is for, libcurl decides at each connection.
  package static let namesProxy: Bool = {
    let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
    return names.contains { ProcessInfo.processInfo.environment[$0]?.isEmpty == false }
  }()
}

extension ClientEnvironment {
  /// The environment of a client that speaks HTTP alone: its own or the process's, with what the configuration trusts,
  /// shows and passes through.
  /// - Throws: when the system has no descriptors or threads left; `invalidRequest` for a file that cannot be read or a
  ///   pin that is none.
  package static func http(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    let shared = try HTTPEnvironment.result.get()
    guard configuration.hasOwnNetwork else { return shared }
    try configuration.checkNetwork()
    var security = ProcessNetwork.security
    security.authorityFile = configuration.authorityFile ?? security.authorityFile
    security.certificateFile = configuration.certificateFile
    security.keyFile = configuration.keyFile
    security.pinnedPublicKeys = configuration.pinnedPublicKeys
    security.proxy = configuration.proxy
    return shared.over(security)
  }

  /// The same over connections of its own.
  fileprivate func over(_ security: CurlSecurity) -> ClientEnvironment {
    var exchanges = CurlClient.Options()
    exchanges.security = security
    var streams = CurlConnector.Options()
    streams.security = security
    var other = self
    other.http = CurlClient(options: exchanges)
    other.requests = .connections(CurlConnector(options: streams))
    return other
  }
}

extension ConnectionConfiguration {
  /// Whether its WebSockets go by libcurl as requests do: through a proxy, or to a server whose key is pinned.
  package var needsCurlForSockets: Bool { proxy != nil || ProcessNetwork.namesProxy || !pinnedPublicKeys.isEmpty }
}
