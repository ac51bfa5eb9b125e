#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension GraphQLServer {
  /// Starts the server, serves until the process gets SIGTERM or SIGINT or the calling task is cancelled, then stops
  /// gracefully. For a program whose work is the server:
  ///
  /// ```swift
  /// let server = try GraphQLServer(configuration)
  /// try await server.run()
  /// ```
  ///
  /// From the call on, both signals no longer end the process by themselves, and SIGPIPE does not either.
  ///
  /// - Throws: `ServerError` as `start()`.
  public func run() async throws(ServerError) {
    signal(SIGPIPE, SIG_IGN)
    let signals = Signals.sequence([SIGINT, SIGTERM])
    try start()
    for await _ in signals { break }
    await stop()
  }
}
