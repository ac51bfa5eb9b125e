internal import MartletFoundationNetwork
public import MartletGraphQLClient
internal import MartletHTTP

/// The process's environment with WebSockets beside its HTTP.
enum SharedEnvironment {
  /// Made at first use.
  static let result: Result<ClientEnvironment, GraphQLClientError> = {
    do throws(GraphQLClientError) {
      return .success(try FoundationEnvironment.webSockets(ConnectionConfiguration()))
    } catch {
      return .failure(error)
    }
  }()
}

extension ClientEnvironment {
  /// The process's own loop, sockets and HTTP client, shared by all clients that bring no other.
  /// - Throws: nothing on this platform.
  public static func shared() throws(GraphQLClientError) -> ClientEnvironment {
    try SharedEnvironment.result.get()
  }

  /// The environment of a client that speaks HTTP alone; this network reads compressed answers by itself.
  /// - Throws: as `home`.
  static func requests(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    try http(given, configuration)
  }

  /// The environment a client with a WebSocket lives in: its own or the process's, with what the configuration trusts,
  /// shows and passes through.
  /// - Throws: `invalidRequest` for a setting that this network does not have.
  package static func home(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    guard configuration.hasOwnNetwork else { return try shared() }
    return try FoundationEnvironment.webSockets(configuration)
  }
}
