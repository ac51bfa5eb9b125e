import CMartletOpenSSL
import MartletTokens

/// Signs with a key of its own, which is made anew in each run: what is expected of a token follows from how it was
/// made, and never from the key.
///
/// `@unchecked Sendable`: OpenSSL's keys may be used from several threads, and this one is not changed.
final class TokenSigner: @unchecked Sendable {
  let algorithm: TokenAlgorithm
  private let key: OpaquePointer?
  private let secret: [UInt8]

  struct Failure: Error {
    let what: String
  }

  init(_ algorithm: TokenAlgorithm, rsa: TokenSigner? = nil) throws {
    self.algorithm = algorithm
    switch algorithm.scheme {
    case .hmac(let hash):
      key = nil
      secret = (0..<hash.byteCount).map { UInt8($0) &* 7 &+ 1 }
    case .rsaPKCS1, .rsaPSS:
      secret = []
      // Making an RSA key takes long, and one serves all of its algorithms.
      if let shared = rsa?.key {
        EVP_PKEY_up_ref(shared)
        key = shared
      } else {
        key = try Self.generate("RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, 2_048) }
      }
    case .ecdsa(_, let curve):
      secret = []
      key = try Self.generate("EC") { EVP_PKEY_CTX_set_group_name($0, curve.rawValue) }
    case .edDSA:
      secret = []
      key = try Self.generate("ED25519") { _ in 1 }
    }
  }

  deinit { EVP_PKEY_free(key) }

  private static func generate(_ type: String, _ configure: (OpaquePointer?) -> Int32) throws -> OpaquePointer? {
    let context = EVP_PKEY_CTX_new_from_name(nil, type, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, configure(context) == 1, EVP_PKEY_generate(context, &key) == 1 else {
      throw Failure(what: "no key of \(type)")
    }
    return key
  }

  // MARK: The key

  /// The public half, or the secret, as a JSON Web Key that is called like its algorithm.
  func published() throws -> String {
    let members: [String: String]
    switch algorithm.scheme {
    case .hmac: members = ["kty": "oct", "k": Mint.text(secret)]
    case .rsaPKCS1, .rsaPSS:
      members = ["kty": "RSA", "n": Mint.text(try number("n")), "e": Mint.text(try number("e"))]
    case .ecdsa(_, let curve):
      var point = [UInt8](repeating: 0, count: 200)
      var length = 0
      guard EVP_PKEY_get_octet_string_param(key, "pub", &point, point.count, &length) == 1 else {
        throw Failure(what: "no point")
      }
      let coordinates = point[1..<length]
      members = [
        "kty": "EC", "crv": curve.rawValue, "x": Mint.text(Array(coordinates.prefix(curve.byteCount))),
        "y": Mint.text(Array(coordinates.suffix(curve.byteCount))),
      ]
    case .edDSA:
      var bytes = [UInt8](repeating: 0, count: 32)
      var length = 32
      guard EVP_PKEY_get_raw_public_key(key, &bytes, &length) == 1 else { throw Failure(what: "no point") }
      members = ["kty": "OKP", "crv": "Ed25519", "x": Mint.text(bytes)]
    }
    let text = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
    return "{\"kid\":\"\(algorithm.rawValue)\",\"alg\":\"\(algorithm.rawValue)\",\(text)}"
  }

  private func number(_ name: String) throws -> [UInt8] {
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else { throw Failure(what: "no number \(name)") }
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: Int((BN_num_bits(number) + 7) / 8))
    BN_bn2bin(number, &bytes)
    return bytes
  }

  // MARK: Signatures

  /// How an RSA signature is padded where it is not as its algorithm says.
  enum Padding {
    case pkcs1
    case pss(salt: Int32)
  }

  /// The signature in the form of a token.
  func signature(of text: String, padding: Padding? = nil, digest: String? = nil) throws -> [UInt8] {
    let message = Array(text.utf8)
    switch algorithm.scheme {
    case .hmac(let hash): return code(message, hash)
    case .rsaPKCS1(let hash): return try sign(message, digest ?? Self.name(hash), padding ?? .pkcs1)
    case .rsaPSS(let hash):
      return try sign(message, digest ?? Self.name(hash), padding ?? .pss(salt: Int32(hash.byteCount)))
    case .ecdsa(let hash, let curve):
      return try Self.joined(try sign(message, digest ?? Self.name(hash), nil), curve.byteCount)
    case .edDSA: return try sign(message, nil, nil)
    }
  }

  /// The private key of RSA applied to a block of the modulus' length, which is padded already.
  func raw(_ block: [UInt8]) throws -> [UInt8] {
    let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: block.count)
    var length = signature.count
    guard EVP_PKEY_sign_init(context) == 1, EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1,
      EVP_PKEY_sign(context, &signature, &length, block, block.count) == 1, length == block.count
    else { throw Failure(what: "no signature of a padded block") }
    return signature
  }

  func digest(of text: String) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    EVP_Digest(Array(text.utf8), text.utf8.count, &digest, &length, EVP_sha256(), nil)
    return digest
  }

  /// The signature in the library's own encoding.
  func distinguishedSignature(of text: String) throws -> [UInt8] {
    guard case .ecdsa(let hash, _) = algorithm.scheme else { throw Failure(what: "not a signature of two numbers") }
    return try sign(Array(text.utf8), Self.name(hash), nil)
  }

  private func code(_ message: [UInt8], _ hash: TokenAlgorithm.Hash) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: hash.byteCount)
    var length: UInt32 = 0
    let digest = EVP_get_digestbyname(Self.name(hash))
    _ = HMAC(digest, secret, Int32(secret.count), message, message.count, &code, &length)
    return code
  }

  private func sign(_ message: [UInt8], _ digest: String?, _ padding: Padding?) throws -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var settings: OpaquePointer?
    guard EVP_DigestSignInit_ex(context, &settings, digest, nil, nil, key, nil) == 1 else {
      throw Failure(what: "no signature by \(algorithm)")
    }
    if case .pss(let salt)? = padding {
      guard EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, salt) == 1
      else { throw Failure(what: "no salt of \(salt) bytes") }
    }
    var signature = [UInt8](repeating: 0, count: 1_024)
    var length = signature.count
    guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
      throw Failure(what: "no signature by \(algorithm)")
    }
    return Array(signature.prefix(length))
  }

  private static func name(_ hash: TokenAlgorithm.Hash) -> String {
    switch hash {
    case .sha256: "SHA256"
    case .sha384: "SHA384"
    case .sha512: "SHA512"
    }
  }

  /// r and s of the library's encoding, as numbers of a fixed length.
  private static func joined(_ encoded: [UInt8], _ count: Int) throws -> [UInt8] {
    var rest = encoded[...]
    func byte() throws -> Int {
      guard let first = rest.popFirst() else { throw Failure(what: "a signature that is cut off") }
      return Int(first)
    }
    _ = try byte()
    if try byte() == 0x81 { _ = try byte() }
    var numbers: [UInt8] = []
    for _ in 0..<2 {
      _ = try byte()
      let length = try byte()
      let digits = rest.prefix(length).drop { $0 == 0 }
      rest = rest.dropFirst(length)
      numbers += [UInt8](repeating: 0, count: count - digits.count) + digits
    }
    return numbers
  }
}
