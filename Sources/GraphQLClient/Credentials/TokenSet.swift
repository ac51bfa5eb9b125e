internal import MartletHTTPWire
internal import MartletJSON

/// The tokens of the user that is signed in.
struct TokenSet: Sendable, Hashable {
  var access: String
  var refresh: String?
  var id: String?
  /// When the token that is shown ends, in milliseconds since 1970; nil where it is not known.
  var end: Int64?
  /// How long that token was good when it was given, in milliseconds; nil where it is not known.
  var life: Int64?

  /// What is kept in a storage.
  var stored: [UInt8] {
    var members: JSONObject = ["access": .string(access)]
    if let refresh { members["refresh"] = .string(refresh) }
    if let id { members["id"] = .string(id) }
    if let end { members["end"] = .int(end) }
    if let life { members["life"] = .int(life) }
    return JSONValue.object(members).serialized()
  }

  init(access: String, refresh: String? = nil, id: String? = nil, end: Int64? = nil, life: Int64? = nil) {
    self.access = access
    self.refresh = refresh
    self.id = id
    self.end = end
    self.life = life
  }

  /// What a storage kept; nil for what is not that.
  init?(stored: [UInt8]) {
    guard let members = try? JSONValue(parsing: stored).object, let access = members["access"]?.string else {
      return nil
    }
    self.init(
      access: access, refresh: members["refresh"]?.string, id: members["id"]?.string, end: members["end"]?.int,
      life: members["life"]?.int)
  }
}

/// What a token endpoint answered (RFC 6749, sections 5.1 and 5.2).
enum TokenAnswer: Sendable, Hashable {
  case tokens(TokenSet)
  /// The `error` of the answer, such as `invalid_grant`.
  case error(String)
  /// Nothing that can be used; it may be better later.
  case failed(OIDCError)

  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - showsIDToken: whether the id token is shown, which may end before the access token does.
  init(status: Int, body: [UInt8], at now: Int64, showsIDToken: Bool = false) {
    var limits = JSONLimits()
    limits.depth = 16
    let members = (try? JSONValue(parsing: body, limits: limits))?.object
    if status >= 400, status < 500, let error = members?["error"]?.string {
      self = .error(error)
      return
    }
    guard status == 200 else {
      self = .failed(OIDCError(.unreachable, "The provider answered with the status \(status)."))
      return
    }
    guard let members, let access = members["access_token"]?.string, Self.isToken(access),
      members["token_type"]?.string?.lowercased() == "bearer"
    else {
      self = .failed(OIDCError(.malformed, "The provider's answer has no bearer token."))
      return
    }
    let id = members["id_token"]?.string.flatMap { Self.isToken($0) ? $0 : nil }
    let ofIDToken = showsIDToken ? id.flatMap { Self.life(Self.seconds(ofIDToken: $0)) } : nil
    let life = ofIDToken ?? Self.life(members["expires_in"]?.seconds)
    self = .tokens(
      TokenSet(
        access: access, refresh: members["refresh_token"]?.string, id: id, end: life.map { now + $0 }, life: life))
  }

  /// Whether the provider takes the refresh token no longer.
  var endsRefreshToken: Bool {
    switch self {
    case .error("invalid_grant"), .error("invalid_client"), .error("unauthorized_client"): true
    case .error, .failed, .tokens: false
    }
  }

  /// Seconds as milliseconds; nil for more than a hundred years, which no provider means.
  private static func life(_ seconds: Int64?) -> Int64? {
    seconds.flatMap { (0...3_200_000_000).contains($0) ? $0 * 1_000 : nil }
  }

  /// How long an id token is good from when it was made, so that the provider's clock does not count.
  private static func seconds(ofIDToken token: String) -> Int64? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64.decodeLeniently(parts[1]),
      let claims = (try? JSONValue(parsing: payload))?.object,
      let end = claims["exp"]?.int, let start = claims["iat"]?.int
    else { return nil }
    let (seconds, isTooLarge) = end.subtractingReportingOverflow(start)
    return isTooLarge ? nil : seconds
  }

  /// Whether a token can stand in a header field.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

extension JSONValue {
  /// A number of seconds; some providers write it as a text.
  var seconds: Int64? { int ?? string.flatMap { Int64($0) } }
}
