import Foundation
import Martlet

/// A model with a key of two fields and a relation. A date is a `Date` or, as the server writes it, a `String`.
struct Voyage: Model {
  var year: Int
  var number: String
  var left: Date?
  var ship: Ship?

  enum CodingKeys: String, ModelKey { case year, number, left, ship }
  static let primaryKey: [CodingKeys] = [.year, .number]
  static let keyTypes: [CodingKeys: String] = [.year: "Int"]
  // In place of `includes:` and lazy references: what requests read of other models.
  static let nested: [CodingKeys: ModelSelection] = [.ship: .model(Ship.self)]
}

struct Ship: Model {
  var id: String
  var name: String

  enum CodingKeys: String, ModelKey { case id, name }
}

/// Calls of Amplify's API category that `Chores` does not show.
enum AmplifyCalls {
  /// In place of `authMode:`: a client has one kind of credentials, and a program may have several clients.
  static func clients(_ url: URL, token: @escaping @Sendable () async throws -> String) throws -> [GraphQLClient] {
    // `.apiKey`
    var key = ConnectionConfiguration()
    key.credentials = { _ in Credentials(headers: [(name: "x-api-key", value: "…")], payload: ["x-api-key": "…"]) }
    // `.amazonCognitoUserPools`, `.openIDConnect`, `.function`
    var user = ConnectionConfiguration()
    user.credentials = { _ in .bearer(try await token()) }
    // `.awsIAM`, towards AppSync
    var signed = ConnectionConfiguration()
    signed.dialect = .appSync
    signed.credentials = { _ in .iam(AWSCredentials(accessKeyID: "…", secretAccessKey: "…")) }
    return [
      try GraphQLClient(url: url, configuration: key), try GraphQLClient(url: url, configuration: user),
      try GraphQLClient(url: url, configuration: signed),
    ]
  }

  /// In place of `add(interceptor:for:)`.
  static func client(_ url: URL, interceptor: any Interceptor) throws -> GraphQLClient {
    GraphQLClient(
      networkTransport: InterceptedTransport(
        try WebSocketTransport(url: url), provider: DefaultInterceptorProvider(interceptors: [interceptor])))
  }

  /// In place of `apiName:`: another client for what is asked inside.
  static func voyage(_ year: Int, _ number: String, on client: GraphQLClient) async throws -> Voyage? {
    try await Martlet.withClient(client) {
      // In place of `byIdentifier: .identifier(year:number:)`.
      try await Martlet.API.query(
        request: .get(Voyage.self, byIdentifier: [.year: .int(Int64(year)), .number: .string(number)])
      ).get()
    }
  }

  static func rename(_ ship: Ship, from name: String) async throws -> String {
    let keys = Ship.keys
    switch try await Martlet.API.mutate(request: .update(ship, where: keys.name == name)) {
    case .success(let ship): return ship.name
    case .failure(.error(let errors)): return errors.first?.message ?? ""
    case .failure(.partial(let ship, _)): return ship.name
    case .failure(.transformationError(_, let cause)): return "\(cause)"
    }
  }

  /// In place of the cases of `APIError`.
  static func words(for error: any Error) -> String {
    switch error {
    case let error as Martlet.ConfigurationError: error.message  // .invalidConfiguration
    case let error as GraphQLClientError where error.code == .httpStatus: "\(error.status ?? 0)"  // .httpStatusError
    case let error as GraphQLClientError where error.code == .invalidRequest: error.message  // .invalidURL
    case let error as GraphQLClientError: error.message  // .networkError, .operationError, .unknown
    default: "\(error)"
    }
  }
}
