import Foundation
import Martlet

/// A client of AppSync's real-time protocol, with an API key or with tokens of a user pool.
enum SpeakAppSync {
  static func client(_ url: URL, key: String) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.dialect = .appSync
    configuration.appSync = AppSyncConfiguration(authorization: ["x-api-key": .string(key)])
    configuration.headers = [(name: "x-api-key", value: key)]
    return try GraphQLClient(url: url, configuration: configuration)
  }

  static func client(
    _ url: URL, token: @escaping @Sendable (_ isRefused: Bool) async throws -> String
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.dialect = .appSync
    configuration.credentials = { reason in
      let token = try await token(reason.isRefusal)
      return Credentials(
        headers: [(name: "Authorization", value: token)], payload: ["Authorization": .string(token)])
    }
    return try GraphQLClient(url: url, configuration: configuration)
  }
}
