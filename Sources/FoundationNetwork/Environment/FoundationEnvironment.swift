package import MartletGraphQLClient
internal import MartletRuntime

#if canImport(FoundationNetworking)
  internal import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// Environments of clients over Foundation's network.
package enum FoundationEnvironment {
  /// Where the clients of the process live.
  package static let loop = DispatchLoop(name: "martlet-client")

  /// Requests and streams by HTTP, without WebSockets, as every client of the process shares them. Made at first use.
  package static let shared = make(sessions: .martlet)

  /// An environment whose requests and streams go by sessions made from a configuration.
  ///
  /// - Parameter observer: kept for challenges, which are not forwarded yet.
  package static func make(
    sessions configuration: URLSessionConfiguration, on loop: DispatchLoop = loop,
    observer: (any URLSessionDelegate)? = nil
  ) -> ClientEnvironment {
    let http = SystemExchanges(SessionTasks(on: loop, configuration: configuration, observer: observer))
    var environment = ClientEnvironment(
      loop: loop, sockets: nil, http: http, requests: .exchanges(http, TemporaryBodies()),
      spawner: ConcurrentSpawner(), chance: .system)
    environment.calendar = {
      let (seconds, attoseconds) = WallClock.sinceEpoch().components
      return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
    return environment
  }

  /// The environment of a client that speaks HTTP alone: the process's, or one with what the configuration asks for.
  /// - Throws: `invalidRequest` for settings that this network does not have.
  package static func http(_ configuration: ConnectionConfiguration) throws(GraphQLClientError) -> ClientEnvironment {
    guard let observer = try SessionTrust.delegate(for: configuration) else { return shared }
    return make(sessions: .martlet, observer: observer)
  }

  /// The same with WebSockets.
  package static func webSockets(
    _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    let observer = try SessionTrust.delegate(for: configuration)
    return try http(configuration).withSockets(.martlet, on: loop, observer: observer)
  }
}

extension ClientEnvironment {
  /// The same environment with WebSockets by a session made from a configuration.
  package func withSockets(
    _ configuration: URLSessionConfiguration, on loop: DispatchLoop, observer: (any URLSessionDelegate)? = nil
  ) -> ClientEnvironment {
    var environment = self
    environment.sockets = SystemSockets(SessionSockets(on: loop, configuration: configuration, observer: observer))
    return environment
  }
}

extension URLSessionConfiguration {
  /// The system's defaults without a cache: results are kept by the client's store, and by nothing else.
  package static var martlet: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = nil
    return configuration
  }
}
