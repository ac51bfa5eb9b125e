public import MartletCore
internal import MartletHTTPClient
internal import MartletRuntime
internal import MartletSockets

/// What every client of the process shares: one loop, one HTTP client.
enum SharedEnvironment {
  /// Made at first use.
  static let result: Result<ClientEnvironment, GraphQLClientError> = {
    do throws(SocketError) {
      let loop = try EpollLoop.start(name: "martlet-client")
      let random = SystemChance.generator()
      var chance: any RandomNumberGenerator = random
      return .success(
        ClientEnvironment(
          loop: loop, sockets: WebSockets(SocketConnector(), random: random), http: CurlClient(),
          spawner: ConcurrentSpawner(), seed: chance.next()))
    } catch {
      return .failure(GraphQLClientError(.connectFailed, "the system has no room for a loop", underlying: error))
    }
  }()
}

extension ClientEnvironment {
  /// The process's own loop, sockets and HTTP client, shared by all clients that bring no other.
  /// - Throws: when the system has no descriptors or threads left.
  public static func shared() throws(GraphQLClientError) -> ClientEnvironment {
    try SharedEnvironment.result.get()
  }
}
