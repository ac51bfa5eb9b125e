public import MartletCore
internal import MartletHTTPClient
internal import MartletLoop
internal import MartletRuntime
internal import MartletSockets

/// What every client of the process shares: one loop, one HTTP client.
enum SharedEnvironment {
  /// Made at first use.
  static let result: Result<ClientEnvironment, GraphQLClientError> = {
    do throws(SocketError) {
      let loop = try EpollLoop.start(name: "martlet-client")
      let bytes = SocketConnector()
      var environment = ClientEnvironment(
        loop: loop, sockets: WebSockets(bytes, chance: .system), http: CurlClient(), bytes: bytes,
        spawner: ConcurrentSpawner(), chance: .system)
      environment.calendar = CalendarClock.milliseconds
      return .success(environment)
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

  /// The same with other certificate authorities to check servers against.
  /// - Throws: `invalidRequest` when the file cannot be read.
  func trusting(authorityFile: String) throws(GraphQLClientError) -> ClientEnvironment {
    var options = SocketConnector.Options()
    do throws(TLSError) {
      options.tls = try TLSClientContext(TLSClientContext.Options(authorityFile: authorityFile))
    } catch {
      throw GraphQLClientError(.invalidRequest, "the authorities cannot be read", underlying: error)
    }
    let bytes = SocketConnector(options: options)
    var other = self
    other.bytes = bytes
    other.sockets = WebSockets(bytes, chance: chance)
    var http = CurlClient.Options()
    http.authorityFile = authorityFile
    other.http = CurlClient(options: http)
    return other
  }
}
