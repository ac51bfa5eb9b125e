package import MartletGraphQLClient
internal import MartletHTTPWire
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
  /// - Parameter delegation: what is trusted, and where challenges and metrics go.
  package static func make(
    sessions configuration: URLSessionConfiguration, on loop: DispatchLoop = loop,
    delegation: SessionDelegation = SessionDelegation()
  ) -> ClientEnvironment {
    let http = SystemExchanges(SessionTasks(on: loop, configuration: configuration, delegation: delegation))
    var environment = ClientEnvironment(
      loop: loop, sockets: nil, http: http, requests: .exchanges(http, TemporaryBodies()),
      spawner: ConcurrentSpawner(), chance: .system)
    environment.calendar = WallClock.milliseconds
    return environment
  }

  /// The environment of a client that speaks HTTP alone: the process's, or one with what the configuration asks for.
  /// - Throws: `invalidRequest` for settings that this network does not have.
  package static func http(_ configuration: ConnectionConfiguration) throws(GraphQLClientError) -> ClientEnvironment {
    let trust = try TrustRules(configuration)
    if trust.isEmpty, configuration.proxy == nil { return shared }
    return make(
      sessions: try URLSessionConfiguration.martlet.with(configuration), delegation: SessionDelegation(trust: trust))
  }

  /// The same with WebSockets.
  package static func webSockets(
    _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    let delegation = SessionDelegation(trust: try TrustRules(configuration))
    return try http(configuration)
      .withSockets(try URLSessionConfiguration.martlet.with(configuration), on: loop, delegation: delegation)
  }
}

extension ClientEnvironment {
  /// The same environment with WebSockets by a session made from a configuration.
  package func withSockets(
    _ configuration: URLSessionConfiguration, on loop: DispatchLoop,
    delegation: SessionDelegation = SessionDelegation()
  ) -> ClientEnvironment {
    var environment = self
    environment.sockets = SystemSockets(SessionSockets(on: loop, configuration: configuration, delegation: delegation))
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

  /// A copy with what a client's configuration has of a session's: the proxy.
  /// - Throws: `invalidRequest` for a proxy that a session cannot use, and for the configuration of a background
  ///   session: its tasks read from files and write to files, and have no delegate calls for data, streams or
  ///   WebSockets.
  package func with(_ configuration: ConnectionConfiguration) throws(GraphQLClientError) -> URLSessionConfiguration {
    if let identifier {
      throw GraphQLClientError(
        .invalidRequest,
        "the session \"\(identifier)\" is a background session, which has neither streams nor WebSockets: "
          + "use one with a default or ephemeral configuration")
    }
    let own = (copy() as? URLSessionConfiguration) ?? self
    if let proxy = configuration.proxy { own.connectionProxyDictionary = try SystemProxy(proxy).dictionary }
    return own
  }

  /// Removes the additional header fields, which sessions send to every origin and do not check, and returns them for a
  /// client's configuration, in the order of their names: without those that it has already, and without those that the
  /// client sets itself.
  /// - Throws: `invalidRequest` for a field that would break a request, naming it but never its value.
  package func takeFields(
    besides known: [(name: String, value: String)]
  ) throws(GraphQLClientError) -> [(name: String, value: String)] {
    var taken: [(name: String, value: String)] = []
    var checked = HTTPHeaders()
    for (name, value) in (httpAdditionalHeaders ?? [:]).map({ ("\($0.key)", "\($0.value)") }).sorted(by: { $0.0 < $1.0 }
    )
    where !HTTPHeaders.isReserved(Array(name.utf8)[...]) {
      try checked.append(checking: [(name, value)])
      if !known.contains(where: { $0.name.lowercased() == name.lowercased() }) { taken.append((name, value)) }
    }
    httpAdditionalHeaders = nil
    return taken
  }
}
