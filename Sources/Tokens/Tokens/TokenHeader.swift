internal import MartletJSON

/// The parameters of a token's header that decide whether it can be accepted.
///
/// `jwk`, `jku`, `x5c` and `x5u` are never read: a token must not bring the key that proves it.
package struct TokenHeader: Sendable, Hashable {
  package let algorithm: TokenAlgorithm
  /// `kid`.
  package let keyID: String?
  /// `typ` in lower case and without `application/`.
  package let kind: String?

  /// Reads the decoded header (RFC 7515, section 4).
  init(_ bytes: [UInt8], depth: Int) throws(TokenRefusal) {
    let object = try CompactToken.object(bytes, .header, depth: depth)
    try Self.checkCritical(object)
    switch object["b64"] {
    case nil, .bool(true)?: break
    case .bool(false)?: throw .unencodedPayload
    case .some: throw .wrongType(.header, "b64")
    }
    guard let name = object["alg"] else { throw .missingAlgorithm }
    guard let name = name.string else { throw .wrongType(.header, "alg") }
    if name.lowercased() == "none" { throw .unsigned }
    guard let algorithm = TokenAlgorithm(rawValue: name) else { throw .unknownAlgorithm(name) }
    self.algorithm = algorithm
    keyID = try Self.text("kid", in: object)
    kind = try Self.text("typ", in: object).map(Self.mediaType)
    _ = try Self.text("cty", in: object)
  }

  private static func text(_ name: String, in object: JSONObject) throws(TokenRefusal) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else { throw .wrongType(.header, name) }
    return text
  }

  /// Media types compare without regard to case, and `application/` may be left out (RFC 7515, section 4.1.9).
  private static func mediaType(_ text: String) -> String {
    let lower = text.lowercased()
    let prefix = "application/"
    return lower.hasPrefix(prefix) ? String(lower.dropFirst(prefix.count)) : lower
  }

  /// Names that the specifications define, which `crit` must not list (RFC 7515, section 4.1.11).
  private static let registered = [
    "alg", "jku", "jwk", "kid", "x5u", "x5c", "x5t", "x5t#S256", "typ", "cty", "crit",
  ]

  /// Only `b64` is implemented, and only with the value true, which changes nothing.
  private static func checkCritical(_ object: JSONObject) throws(TokenRefusal) {
    guard let value = object["crit"] else { return }
    guard let list = value.array, !list.isEmpty else { throw .malformedCritical("it must be a list with names") }
    var seen = JSONObject()
    for entry in list {
      guard let name = entry.string else { throw .malformedCritical("each entry must be a string") }
      guard seen[name] == nil else { throw .malformedCritical("a name occurs twice") }
      seen[name] = true
      guard !registered.contains(name) else { throw .malformedCritical("it names a registered parameter") }
      guard object[name] != nil else { throw .malformedCritical("it names a parameter that is not in the header") }
      guard name == "b64" else { throw .notUnderstood(name) }
    }
  }
}
