import CMartletOpenSSL
import Foundation
import MartletWire
import Testing

/// A folder with an authority and certificates signed by it, made for one test.
///
/// `@unchecked Sendable` holds because OpenSSL counts its objects and nothing changes them at the same time.
struct TestCertificates: @unchecked Sendable {
  let folder: URL
  private let authorityKey: OpaquePointer
  private let authority: OpaquePointer

  var authorityFile: String { folder.appendingPathComponent("authority.pem").path }
  var certificateFile: String { folder.appendingPathComponent("server.pem").path }
  var keyFile: String { folder.appendingPathComponent("server.key").path }
  /// What `issueClient` writes.
  var clientCertificateFile: String { folder.appendingPathComponent("client.pem").path }
  var clientKeyFile: String { folder.appendingPathComponent("client.key").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    authorityKey = try Self.makeKey()
    authority = try #require(X509_new())
    try Self.fill(authority, name: "Test authority", key: authorityKey, serial: 1)
    try Self.extend(authority, NID_basic_constraints, "critical,CA:TRUE")
    try #require(X509_set_issuer_name(authority, X509_get_subject_name(authority)) == 1)
    try #require(X509_sign(authority, authorityKey, EVP_sha256()) > 0)
    try Self.write(authority, to: authorityFile)
    try issue(serial: 2)
  }

  /// Writes a fresh certificate and key, as an operator who renews does.
  func issue(serial: Int, names: String = "DNS:localhost,IP:127.0.0.1", isRSA: Bool = false) throws {
    try issue(
      "localhost", serial: serial, names: names, certificateFile: certificateFile, keyFile: keyFile, isRSA: isRSA)
  }

  /// Writes a certificate and key for a client of that name.
  func issueClient(_ name: String, serial: Int = 100) throws {
    try issue(
      name, serial: serial, names: "DNS:\(name)", certificateFile: clientCertificateFile, keyFile: clientKeyFile)
  }

  private func issue(
    _ name: String, serial: Int, names: String, certificateFile: String, keyFile: String, isRSA: Bool = false
  ) throws {
    let key = try Self.makeKey(isRSA: isRSA)
    let certificate = try #require(X509_new())
    defer {
      X509_free(certificate)
      EVP_PKEY_free(key)
    }
    try Self.fill(certificate, name: name, key: key, serial: serial)
    try Self.extend(certificate, NID_subject_alt_name, names)
    try #require(X509_set_issuer_name(certificate, X509_get_subject_name(authority)) == 1)
    try #require(X509_sign(certificate, authorityKey, EVP_sha256()) > 0)
    try Self.write(certificate, to: certificateFile)
    let file = try #require(fopen(keyFile, "w"))
    defer { fclose(file) }
    try #require(PEM_write_PrivateKey(file, key, nil, nil, 0, nil, nil) == 1)
  }

  /// The SHA-256 digest of the server's public key, in base64, as clients pin it.
  func serverKeyDigest() throws -> String {
    let file = try #require(fopen(certificateFile, "r"))
    defer { fclose(file) }
    let certificate = try #require(PEM_read_X509(file, nil, nil, nil))
    defer { X509_free(certificate) }
    let key = try #require(X509_get0_pubkey(certificate))
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(key, &encoded)
    let bytes = try #require(encoded)
    let digest = SHA256.digest(Array(UnsafeBufferPointer(start: bytes, count: Int(count))))
    CRYPTO_free(bytes, nil, 0)
    return Data(digest).base64EncodedString()
  }

  func remove() {
    X509_free(authority)
    EVP_PKEY_free(authorityKey)
    try? FileManager.default.removeItem(at: folder)
  }

  private static func makeKey(isRSA: Bool = false) throws -> OpaquePointer {
    let context = try #require(EVP_PKEY_CTX_new_id(isRSA ? EVP_PKEY_RSA : EVP_PKEY_EC, nil))
    defer { EVP_PKEY_CTX_free(context) }
    try #require(EVP_PKEY_keygen_init(context) == 1)
    if !isRSA { try #require(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1) }
    var key: OpaquePointer?
    try #require(EVP_PKEY_keygen(context, &key) == 1)
    return try #require(key)
  }

  private static func fill(_ certificate: OpaquePointer, name: String, key: OpaquePointer, serial: Int) throws {
    try #require(X509_set_version(certificate, 2) == 1)
    try #require(ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial) == 1)
    try #require(X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil)
    try #require(X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400) != nil)
    let subject = X509_get_subject_name(certificate)
    let text = Array(name.utf8)
    // 0x1000 marks UTF-8 text.
    try #require(X509_NAME_add_entry_by_txt(subject, "CN", 0x1000, text, Int32(text.count), -1, 0) == 1)
    try #require(X509_set_pubkey(certificate, key) == 1)
  }

  private static func extend(_ certificate: OpaquePointer, _ kind: Int32, _ value: String) throws {
    let built = try #require(X509V3_EXT_conf_nid(nil, nil, kind, value))
    defer { X509_EXTENSION_free(built) }
    try #require(X509_add_ext(certificate, built, -1) == 1)
  }

  private static func write(_ certificate: OpaquePointer, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    defer { fclose(file) }
    try #require(PEM_write_X509(file, certificate) == 1)
  }
}
