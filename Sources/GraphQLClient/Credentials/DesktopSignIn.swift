internal import MartletHTTPWire

/// Signing in with a browser on the same machine: open `page`, and give the address that the browser is sent to at the
/// end to `OIDCAuthProvider.finishSignIn` (RFC 8252 with PKCE, RFC 7636).
public struct DesktopSignIn: Sendable, Hashable {
  /// The page to open in the user's browser; not in a view of the program's own.
  public let page: String
  /// Where the browser is sent to: a port of this machine, `http://127.0.0.1:PORT/`, or an address of the program's own
  /// scheme.
  public let redirect: String
  let state: String
  let verifier: String
  let issuer: String

  init(
    authorization: String, redirect: String, _ configuration: OIDCConfiguration,
    using random: inout some RandomNumberGenerator
  ) {
    self.redirect = redirect
    issuer = configuration.issuer
    state = Self.secret(&random)
    verifier = Self.secret(&random)
    var query = [
      ("response_type", "code"), ("client_id", configuration.clientID), ("redirect_uri", redirect),
      ("scope", configuration.scopes.joined(separator: " ")), ("state", state),
      ("code_challenge", Base64.encodeForURL(SHA256.digest(Array(verifier.utf8)))), ("code_challenge_method", "S256"),
    ]
    if let audience = configuration.audience { query.append(("audience", audience)) }
    page = authorization + (authorization.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + FormText.text(query)
  }

  /// The code in the address that the browser was sent to.
  func code(from callback: String) throws(OIDCError) -> String {
    let bytes = Array(callback.utf8)
    guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else {
      throw OIDCError(.mismatch, "The address has no answer of the provider.")
    }
    let end = bytes[mark...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
    guard let fields = FormText.read(bytes[(mark + 1)..<end]) else {
      throw OIDCError(.malformed, "The address cannot be read.")
    }
    // Another page may have sent the browser here.
    guard let state = fields["state"], state.utf8.elementsEqual(self.state.utf8) else {
      throw OIDCError(.mismatch, "The answer is not to this request to sign in.")
    }
    if let issuer = fields["iss"], !issuer.utf8.elementsEqual(self.issuer.utf8) {
      throw OIDCError(.mismatch, "The answer is another provider's.")
    }
    if let error = fields["error"] {
      throw OIDCError(.refused, "The provider refused to sign in: \(TokenKeeper<Int>.plain(error)).")
    }
    guard let code = fields["code"], !code.isEmpty else {
      throw OIDCError(.malformed, "The address has neither a code nor an error.")
    }
    return code
  }

  /// 256 random bits as text.
  private static func secret(_ random: inout some RandomNumberGenerator) -> String {
    var bytes: [UInt8] = []
    for _ in 0..<4 {
      let word: UInt64 = random.next()
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }
    return Base64.encodeForURL(bytes)
  }
}

/// Fields as forms and queries have them.
enum FormText {
  static func text(_ fields: [(String, String)]) -> String {
    fields.map { "\(escaped($0.0))=\(escaped($0.1))" }.joined(separator: "&")
  }

  /// Nil for broken escapes, text that is not UTF-8, and names that occur twice.
  static func read(_ text: ArraySlice<UInt8>) -> [String: String]? {
    var fields: [String: String] = [:]
    for pair in text.split(separator: UInt8(ascii: "&")) {
      let sign = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      guard let name = unescaped(pair[..<sign]), let value = unescaped(pair[sign...].dropFirst()),
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    return fields
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default: escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16).uppercased()
      }
    }
    return escaped
  }

  private static func unescaped(_ text: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(0x20)
      case UInt8(ascii: "%"):
        guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
          return nil
        }
        bytes.append(value)
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    // What is not UTF-8 is decoded as something else.
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.elementsEqual(bytes) ? text : nil
  }
}
