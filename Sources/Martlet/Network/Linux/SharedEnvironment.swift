public import MartletGraphQLClient
internal import MartletHTTP
internal import MartletSockets

/// The process's environment with sockets beside its HTTP.
enum SharedEnvironment {
  /// Made at first use.
  static let result: Result<ClientEnvironment, GraphQLClientError> = {
    do throws(GraphQLClientError) {
      var environment = try ClientEnvironment.requests(nil, ConnectionConfiguration())
      let streams = ProcessNetwork.namesProxy ? environment.connections : nil
      environment.sockets = WebSockets(streams ?? SocketConnector(), chance: environment.chance)
      return .success(environment)
    } catch {
      return .failure(error)
    }
  }()
}

extension ClientEnvironment {
  /// The process's own loop, sockets and HTTP client, shared by all clients that bring no other.
  /// - Throws: when the system has no descriptors or threads left.
  public static func shared() throws(GraphQLClientError) -> ClientEnvironment {
    try SharedEnvironment.result.get()
  }

  /// The environment of a client that speaks HTTP alone: its own or the process's, with what the configuration trusts,
  /// shows and passes through, and with compressed answers.
  /// - Throws: as `home`.
  static func requests(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    var environment = try ClientEnvironment.http(nil, configuration)
    environment.inflate = RawInflate.inflate
    return environment
  }

  /// The environment a client with a WebSocket lives in: its own or the process's, with what the configuration trusts,
  /// shows and passes through.
  /// - Throws: as `shared`, and `invalidRequest` for a file that cannot be read.
  package static func home(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    guard configuration.hasOwnNetwork else { return try shared() }
    var environment = try ClientEnvironment.requests(nil, configuration)
    if configuration.needsCurlForSockets, let streams = environment.connections {
      environment.sockets = WebSockets(streams, chance: environment.chance)
      return environment
    }
    var trust = TLSClientContext.Options(authorityFile: configuration.authorityFile)
    trust.certificateFile = configuration.certificateFile
    trust.keyFile = configuration.keyFile
    var options = SocketConnector.Options()
    do throws(TLSError) {
      options.tls = try TLSClientContext(trust)
    } catch {
      throw GraphQLClientError(
        .invalidRequest, "the authorities or the client's certificate cannot be read", underlying: error)
    }
    environment.sockets = WebSockets(SocketConnector(options: options), chance: environment.chance)
    return environment
  }
}
