public import MartletCore
internal import MartletHTTP
internal import MartletSockets

/// The process's environment with sockets beside its HTTP.
enum SharedEnvironment {
  /// Made at first use.
  static let result: Result<ClientEnvironment, GraphQLClientError> = {
    do throws(GraphQLClientError) {
      var environment = try ClientEnvironment.http(nil, ConnectionConfiguration())
      environment.sockets = WebSockets(SocketConnector(), chance: environment.chance)
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

  /// The environment a client with a WebSocket lives in: its own or the process's, with the authorities it trusts.
  /// - Throws: as `shared`, and `invalidRequest` for an authority file that cannot be read.
  static func home(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    guard let file = configuration.authorityFile else { return try shared() }
    var options = SocketConnector.Options()
    do throws(TLSError) {
      options.tls = try TLSClientContext(TLSClientContext.Options(authorityFile: file))
    } catch {
      throw GraphQLClientError(.invalidRequest, "the authorities cannot be read", underlying: error)
    }
    var environment = try ClientEnvironment.http(nil, configuration)
    environment.sockets = WebSockets(SocketConnector(options: options), chance: environment.chance)
    return environment
  }
}
