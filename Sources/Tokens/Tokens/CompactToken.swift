internal import MartletJSON

/// A token in its three parts (JWS Compact Serialization, RFC 7515, section 7.1), before anything in it is believed.
package struct CompactToken: Sendable {
  package let header: TokenHeader
  package let payload: [UInt8]
  package let signature: [UInt8]
  /// What the signature is over: the first two parts as they were sent, with the dot between them.
  package let signedBytes: [UInt8]

  /// Reads a token.
  ///
  /// - Throws: why it cannot be a token that is accepted, whatever its key.
  package init(_ text: [UInt8], limits: TokenLimits = TokenLimits()) throws(TokenRefusal) {
    guard text.count <= limits.tokenBytes else { throw .tooLarge }
    let dots = text.indices.filter { text[$0] == UInt8(ascii: ".") }
    guard dots.count == 2 else { throw .notThreeParts(dots.count + 1) }
    let first = text[..<dots[0]]
    guard first.count / 4 * 3 <= limits.headerBytes else { throw .tooLarge }
    guard let header = Base64URL.decode(first) else { throw .malformedEncoding(.header) }
    guard let payload = Base64URL.decode(text[(dots[0] + 1)..<dots[1]]) else { throw .malformedEncoding(.payload) }
    self.header = try TokenHeader(header, depth: limits.depth)
    guard let signature = Base64URL.decode(text[(dots[1] + 1)...]) else { throw .malformedEncoding(.signature) }
    self.payload = payload
    self.signature = signature
    signedBytes = Array(text[..<dots[1]])
  }

  /// The JSON object in a part, with the limits of tokens.
  static func object(_ bytes: [UInt8], _ part: TokenRefusal.Part, depth: Int) throws(TokenRefusal) -> JSONObject {
    var limits = JSONLimits()
    limits.depth = depth
    limits.duplicateKeys = .reject
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes, limits: limits)
    } catch {
      throw .malformedJSON(part, error.description)
    }
    guard let object = value.object else { throw .notAnObject(part) }
    return object
  }
}
