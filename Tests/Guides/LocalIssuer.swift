import Foundation
import Martlet
import MartletRuntime
import MartletServer
import MartletSignatures
import Testing

/// An OpenID Connect provider of this process: a discovery document, a key set that changes, and tokens for any client
/// id, which is the user.
final class LocalIssuer: Sendable {
  /// Key pairs of P-256 that were made for these tests alone.
  private static let pairs: [(pem: String, x: String, y: String)] = [
    (
      """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgmoUQbe5HEE2dX7hx
      7j3QO/6virOfQ91JlbRHaRVnkCShRANCAATz8kyNpqCP3kX0Qsaft4P1JrtWpCcm
      L5zo5cw9yB+7gyZ4ujJQ255HLtoZ1q7/pdXHGu3EMrgZCOruxtXDCWFR
      -----END PRIVATE KEY-----
      """, "8_JMjaagj95F9ELGn7eD9Sa7VqQnJi-c6OXMPcgfu4M", "Jni6MlDbnkcu2hnWrv-l1cca7cQyuBkI6u7G1cMJYVE"
    ),
    (
      """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9br+4aLrTnwcAUOs
      ADbvfqJPW2wLwiziXtyDGFK+tumhRANCAAT1YZjyecO5Sm0PeNMMmIIq79Paw5EV
      QgjNa5p8HHb0GGZBR4/WDd+4UEoRTkrulhj3U1t8WhfZxEZ+gLKO8yV6
      -----END PRIVATE KEY-----
      """, "9WGY8nnDuUptD3jTDJiCKu_T2sORFUIIzWuafBx29Bg", "ZkFHj9YN37hQShFOSu6WGPdTW3xaF9nERn6Aso7zJXo"
    ),
  ]

  private struct State {
    /// The key that signs, and those that are published.
    var signing = 0
    var published = [0]
    /// What was asked for, by path.
    var asked: [String: Int] = [:]
  }

  private let state = Lock(State())
  private let claims: @Sendable (_ user: String) -> JSONObject
  /// The tokens' `iss`; nil for the address of this one.
  private let name: String?

  /// - Parameter claims: What the tokens say of a user, besides issuer, subject and times.
  init(named name: String? = nil, claims: @escaping @Sendable (_ user: String) -> JSONObject) {
    self.claims = claims
    self.name = name
  }

  /// Serves the provider while `body` runs, which gets its address.
  func with(_ body: (String) async throws -> Void) async throws {
    var configuration = ServerConfiguration(schema: "type Query { a: String }")
    configuration.access = .development
    configuration.log = .silent
    configuration.resolvers = { $0.compute("Query", "a") { _ in JSONValue.null } }
    for path in ["/.well-known/openid-configuration", "/keys", "/device", "/token"] {
      configuration.endpoints.append(
        try ServerEndpoint(path, methods: ["GET", "POST"], access: .open) { [self] request, response in
          let (status, json) = answer(request, at: "http://\(request.header("Host") ?? "")")
          await response.send(status, body: json.serialized())
        })
    }
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      try await body("http://127.0.0.1:\(server.port)")
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// Signs with another key from now on, and publishes these.
  func rotate(to key: Int, publishing keys: [Int]) {
    state.withLock { ($0.signing, $0.published) = (key, keys) }
  }

  func asked(_ path: String) -> Int { state.withLock { $0.asked[path] ?? 0 } }

  /// A token of a user, with the key that signs now.
  func token(_ user: String, at address: String, adding more: JSONObject = [:]) throws -> String {
    let number = state.withLock { $0.signing }
    let key = try #require(PrivateKey(pem: Self.pairs[number].pem))
    let now = Int64(Date().timeIntervalSince1970)
    var all: JSONObject = [
      "iss": .string(name ?? address), "sub": .string(user), "iat": .int(now), "exp": .int(now + 3_600),
    ]
    for (name, value) in claims(user) { all[name] = value }
    for (name, value) in more { all[name] = value }
    let header: JSONValue = ["alg": "ES256", "kid": .string("key \(number)"), "typ": "JWT"]
    return try #require(key.token(header: header.serialized(), claims: JSONValue.object(all).serialized()))
  }

  private func answer(_ request: EndpointRequest, at address: String) -> (Int, JSONValue) {
    state.withLock { $0.asked[request.path, default: 0] += 1 }
    switch request.path {
    case "/.well-known/openid-configuration":
      return (
        200,
        [
          "issuer": .string(name ?? address), "jwks_uri": .string(address + "/keys"),
          "token_endpoint": .string(address + "/token"),
          "device_authorization_endpoint": .string(address + "/device"),
        ]
      )
    case "/keys":
      let keys = state.withLock { $0.published }.map { number -> JSONValue in
        let pair = Self.pairs[number]
        return [
          "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string("key \(number)"),
          "x": .string(pair.x), "y": .string(pair.y),
        ]
      }
      return (200, ["keys": .array(keys)])
    case "/device":
      return (
        200,
        [
          "device_code": "d", "user_code": "AB-CD", "verification_uri": .string(address + "/device"), "expires_in": 60,
          "interval": 1,
        ]
      )
    default:
      let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
      let user = form.first { $0.hasPrefix("client_id=") }.map { String($0.dropFirst("client_id=".count)) } ?? ""
      guard let access = try? token(user, at: address, adding: ["token_use": "access"]),
        let id = try? token(user, at: address, adding: ["aud": .string(user), "token_use": "id"])
      else { return (500, ["error": "server_error"]) }
      return (
        200,
        [
          "access_token": .string(access), "id_token": .string(id), "refresh_token": "r", "token_type": "Bearer",
          "expires_in": 3_600,
        ]
      )
    }
  }
}
