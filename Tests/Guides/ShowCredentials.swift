import Foundation
import Martlet

/// Clients that show what the recipes of the guide to access ask for.
enum ShowCredentials {
  /// A client of an application that has a key.
  static func client(of url: URL, key: String) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.credentials = { _ in
      Credentials(headers: [(name: "x-api-key", value: key)], payload: ["x-api-key": .string(key)])
    }
    return try GraphQLClient(url: url, configuration: configuration)
  }

  /// A client of a user who signs in at a provider once. Tokens are renewed before they end, and kept in a folder.
  static func client(
    of url: URL, _ issuer: OIDCConfiguration, folder: URL
  ) async throws -> GraphQLClient {
    let provider = try OIDCAuthProvider(issuer, storage: FileCredentialStorage(folder: folder))
    do {
      _ = try await provider.credentials(for: .request)
    } catch let error as OIDCError where error.code == .signInRequired {
      try await provider.signIn { code in print("Open \(code.page) and enter \(code.userCode).") }
    }
    var configuration = ConnectionConfiguration()
    configuration.use(provider)
    return try GraphQLClient(url: url, configuration: configuration)
  }

  /// A client of a user whose token the program has from a login server of its own.
  static func client(
    of url: URL, token: @escaping @Sendable () async throws -> (text: String, lifetime: Duration)
  ) throws -> GraphQLClient {
    var configuration = ConnectionConfiguration()
    configuration.credentials = { _ in
      let token = try await token()
      var credentials = Credentials.bearer(token.text)
      credentials.expiresIn = token.lifetime
      return credentials
    }
    return try GraphQLClient(url: url, configuration: configuration)
  }
}
