internal import Foundation
package import MartletCore
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
        loop: loop, sockets: nil, http: CurlClient(), bytes: CurlConnector(), spawner: ConcurrentSpawner(),
        chance: .system)
      environment.calendar = CalendarClock.milliseconds
      return .success(environment)
    } catch {
      return .failure(GraphQLClientError(.connectFailed, "the system has no room for a loop", underlying: error))
    }
  }()
}

extension ClientEnvironment {
  /// The environment of a client that speaks HTTP alone: its own or the process's, with the authorities it trusts.
  /// - Throws: when the system has no descriptors or threads left; `invalidRequest` for an authority file that cannot be
  ///   read.
  package static func http(
    _ given: ClientEnvironment?, _ configuration: ConnectionConfiguration
  ) throws(GraphQLClientError) -> ClientEnvironment {
    if let given { return given }
    let shared = try HTTPEnvironment.result.get()
    guard let file = configuration.authorityFile else { return shared }
    return try shared.trusting(file)
  }

  /// The same with other certificate authorities to check servers against.
  private func trusting(_ authorityFile: String) throws(GraphQLClientError) -> ClientEnvironment {
    // libcurl would only say so at the first connection.
    guard let text = try? String(contentsOfFile: authorityFile, encoding: .utf8), text.contains("-----BEGIN ") else {
      throw GraphQLClientError(.invalidRequest, "the authorities cannot be read: \(authorityFile) has no certificates")
    }
    var exchanges = CurlClient.Options()
    exchanges.authorityFile = authorityFile
    var streams = CurlConnector.Options()
    streams.authorityFile = authorityFile
    var other = self
    other.http = CurlClient(options: exchanges)
    other.bytes = CurlConnector(options: streams)
    return other
  }
}
