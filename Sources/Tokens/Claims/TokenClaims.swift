package import MartletJSON

/// The claims of a token whose signature was right (RFC 7519, section 4), with the registered ones typed.
package struct TokenClaims: Sendable, Hashable {
  /// All claims as they were sent.
  package let all: JSONObject
  /// `iss`.
  package let issuer: String?
  /// `sub`.
  package let subject: String?
  /// `aud`, a list of one where it is a single string; nil when it is absent.
  package let audiences: [String]?
  /// `exp`, as time since 1970.
  package let expires: Duration?
  /// `nbf`, as time since 1970.
  package let notBefore: Duration?
  /// `iat`, as time since 1970.
  package let issued: Duration?

  /// Reads a token's payload.
  ///
  /// - Throws: `malformedJSON`, `notAnObject` or `wrongType`.
  package init(_ payload: [UInt8], depth: Int) throws(TokenRefusal) {
    let object = try CompactToken.object(payload, .payload, depth: depth)
    all = object
    issuer = try Self.text("iss", object)
    subject = try Self.text("sub", object)
    audiences = try Self.audiences(object)
    expires = try Self.time("exp", object)
    notBefore = try Self.time("nbf", object)
    issued = try Self.time("iat", object)
    _ = try Self.text("jti", object)
  }

  private static func text(_ name: String, _ object: JSONObject) throws(TokenRefusal) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else { throw .wrongType(.payload, name) }
    return text
  }

  private static func time(_ name: String, _ object: JSONObject) throws(TokenRefusal) -> Duration? {
    guard let value = object[name] else { return nil }
    guard let time = NumericDate.time(value) else { throw .wrongType(.payload, name) }
    return time
  }

  private static func audiences(_ object: JSONObject) throws(TokenRefusal) -> [String]? {
    guard let value = object["aud"] else { return nil }
    if let text = value.string { return [text] }
    guard let list = value.array else { throw .wrongType(.payload, "aud") }
    var audiences: [String] = []
    for entry in list {
      guard let text = entry.string else { throw .wrongType(.payload, "aud") }
      audiences.append(text)
    }
    return audiences
  }
}
