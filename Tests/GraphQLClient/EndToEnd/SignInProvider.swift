import Foundation
import Martlet
import MartletServer
import Testing

@testable import MartletGraphQLClient

/// A provider of this process: it gives the tokens a1, a2, … and takes each refresh token once.
final class SignInProvider: Sendable {
  let asked = Recorder<String>()
  /// Seconds between two questions of a device.
  private let interval: Int64

  init(interval: Int64 = 1) { self.interval = interval }

  func answer(_ request: EndpointRequest, base: String) -> (Int, JSONValue) {
    switch request.path {
    case "/.well-known/openid-configuration":
      return (
        200,
        [
          "issuer": .string(base), "token_endpoint": .string(base + "/token"),
          "authorization_endpoint": .string(base + "/authorize"),
          "device_authorization_endpoint": .string(base + "/device"),
        ]
      )
    case "/device":
      return (
        200,
        [
          "device_code": "d", "user_code": "AB", "verification_uri": "https://x/", "expires_in": 3_600,
          "interval": .int(interval),
        ]
      )
    default:
      let form = String(decoding: request.body, as: UTF8.self)
      let grant = form.split(separator: "&").first { $0.hasPrefix("grant_type=") }.map(String.init) ?? ""
      let earlier = asked.all
      asked.add(form)
      let number = earlier.count + 1
      if grant == "grant_type=refresh_token", !form.contains("refresh_token=r\(earlier.count)&") {
        return (400, ["error": "invalid_grant"])
      }
      return (
        200,
        [
          "access_token": .string("a\(number)"), "refresh_token": .string("r\(number)"), "token_type": "Bearer",
          "expires_in": 3_600,
        ]
      )
    }
  }

  /// A provider, a server that its tokens are shown to, and the tokens that were.
  static func with(
    interval: Int64 = 1, _ body: (RealServer, SignInProvider, OIDCConfiguration, Recorder<String>) async throws -> Void
  ) async throws {
    let provider = SignInProvider(interval: interval)
    let shown = Recorder<String>()
    let server = try RealServer { configuration in
      // The first token is good for requests alone.
      configuration.onConnect = { request in
        let token = request.payload["Authorization"]?.string ?? "none"
        shown.add(token)
        let isGood = token == "Bearer a2" || token == "Bearer a3" || token == "Bearer a1" && request.transport == .http
        return isGood ? .accept() : .refuse()
      }
      for path in ["/.well-known/openid-configuration", "/device", "/token"] {
        let endpoint = try? ServerEndpoint(path, methods: ["GET", "POST"], access: .open) { request, response in
          let base = "http://\(request.header("Host") ?? "")"
          let (status, json) = provider.answer(request, base: base)
          await response.send(status, body: json.serialized())
        }
        if let endpoint { configuration.endpoints.append(endpoint) }
      }
    }
    defer { server.remove() }
    let oidc = OIDCConfiguration(issuer: "http://127.0.0.1:\(server.server.port)", clientID: "board")
    try await body(server, provider, oidc, shown)
    await server.server.stop()
  }
}
