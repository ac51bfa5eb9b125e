import CMartletOpenSSL
import MartletJSON
import MartletSignatures
import MartletTokens

/// Checks tokens with the system's verifier.
struct TokenHarness {
  var policy = TokenPolicy(required: [])
  var keys: VerificationKeys

  init(keys: String, origin: TokenKeySet.Origin = .file, algorithms: [TokenAlgorithm] = TokenAlgorithm.allCases) throws
  {
    let set = try TokenKeySet(Array(keys.utf8), algorithms: algorithms, origin: origin)
    self.keys = VerificationKeys(set, with: SystemVerifier())
  }

  /// Why the signature is refused; nil when it is accepted.
  func refusal(_ token: String) -> TokenRefusal? {
    do {
      _ = try TokenChecker(policy).verify(Array(token.utf8), with: keys)
      return nil
    } catch {
      return error
    }
  }

  /// Why the token is refused at a time since 1970; nil when it is accepted.
  func refusal(_ token: String, at now: Duration) -> TokenRefusal? {
    do {
      _ = try TokenChecker(policy).check(Array(token.utf8), with: keys, at: now)
      return nil
    } catch {
      return error
    }
  }
}

/// Makes tokens with HS256 and one fixed secret.
enum Mint {
  static let secret = Array("0123456789abcdef0123456789abcdef".utf8)

  static var keys: String {
    #"{"keys":[{"kty":"oct","k":"\#(text(secret))"}]}"#
  }

  static func token(header: String = #"{"alg":"HS256"}"#, claims: String = "{}") -> String {
    let signed = text(Array(header.utf8)) + "." + text(Array(claims.utf8))
    return signed + "." + text(code(Array(signed.utf8)))
  }

  /// A token of parts that are already encoded.
  static func token(encodedHeader: String, encodedClaims: String) -> String {
    let signed = encodedHeader + "." + encodedClaims
    return signed + "." + text(code(Array(signed.utf8)))
  }

  static func text(_ bytes: [UInt8]) -> String { String(decoding: Base64URL.encode(bytes), as: UTF8.self) }

  private static func code(_ message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    _ = HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &code, &length)
    return code
  }
}
