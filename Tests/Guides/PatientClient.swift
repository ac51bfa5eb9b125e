import Foundation
import Martlet

/// A client that never gives up, and that shows fresh credentials at each attempt.
enum PatientClient {
  static func make(
    _ url: URL, token: @escaping @Sendable (_ isRefused: Bool) async throws -> String
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.reconnect.attempts = nil
    configuration.reconnect.longestDelay = .seconds(10)
    configuration.credentials = { reason in .bearer(try await token(reason.isRefusal)) }
    return try GraphQLClient(url: url, configuration: configuration)
  }

  /// Reports each step of the connection until the client is shut down.
  static func report(_ client: GraphQLClient, to log: @Sendable (String) -> Void) async {
    for await event in client.connectionEvents { log("\(event)") }
  }
}
