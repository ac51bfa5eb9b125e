internal import MartletChannels
internal import MartletJSON
internal import MartletSignatures

/// Provider tokens for APNs, which are accepted for an hour and may be replaced every 20 minutes. Confined to its loop.
final class AppleTokens {
  /// Seconds after which another one is made.
  private static let age: Int64 = 2_400
  /// Seconds in which a refusal replaces a token once: the service refuses to be shown new ones more often.
  private static let leastAge: Int64 = 1_200

  private let service: PushServices.APNs
  private var known: (token: String, made: Int64)?
  private var refused: Int64?

  init(_ service: PushServices.APNs) {
    self.service = service
  }

  /// A token was not accepted.
  func forget(_ token: String, at now: Int64) {
    guard known?.token == token else { return }
    if let refused, refused <= now, now - refused < Self.leastAge { return }
    refused = now
    known = nil
  }

  /// The token for a request; nil where none can be signed.
  ///
  /// - Parameter now: Seconds since 1970.
  func token(at now: Int64) -> String? {
    if let known, known.made <= now, now - known.made < Self.age { return known.token }
    let header: JSONValue = ["alg": .string(service.key.algorithm.rawValue), "kid": .string(service.keyID)]
    let claims: JSONValue = ["iss": .string(service.teamID), "iat": .int(now)]
    guard let token = service.key.token(header: header.serialized(), claims: claims.serialized()) else { return nil }
    known = (token, now)
    return token
  }
}
