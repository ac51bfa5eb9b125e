import Foundation
import Martlet
import MartletCommandLine
import MartletHTTPClient

/// What a command's connections to a server trust and show.
struct ServerTrust: Sendable {
  /// Authorities in a PEM file; nil for the system's.
  var authorityFile: String?
  /// The caller's own certificate and its key, PEM files.
  var certificateFile: String?
  var keyFile: String?
  /// SHA-256 digests of public keys in base64, of which the server must show one; empty accepts every key.
  var pinnedPublicKeys: [String] = []

  static let options: [CommandSpecification.Option] = [
    .init(
      name: "cacert", value: "FILE",
      help: "trust the certificate authorities in this PEM file in place of the system's (default: $SSL_CERT_FILE)"),
    .init(
      name: "cert", value: "FILE", help: "show the server this certificate, a PEM file with the chain behind it"),
    .init(name: "key", value: "FILE", help: "the private key of --cert, a PEM file (default: in the same file)"),
    .init(
      name: "pin", value: "DIGEST",
      help: "accept only a server with this public key, the SHA-256 of its SubjectPublicKeyInfo in base64",
      repeats: true),
  ]

  init() {}

  /// What the options name: files that are there and have what they should, and digests.
  init(_ arguments: ParsedArguments) throws {
    authorityFile = try Self.file(arguments, "cacert", "-----BEGIN ", "certificates")
    certificateFile = try Self.file(arguments, "cert", "-----BEGIN CERTIFICATE", "certificate")
    keyFile = try Self.file(arguments, "key", "PRIVATE KEY", "private key")
    pinnedPublicKeys = arguments.all("pin")
    if certificateFile == nil, keyFile != nil { throw UsageError("--key is for --cert, which is missing.") }
    for pin in pinnedPublicKeys where Data(base64Encoded: pin)?.count != 32 {
      throw UsageError("--pin must be a SHA-256 digest in base64, 44 characters, not '\(pin)'.")
    }
  }

  private static func file(
    _ arguments: ParsedArguments, _ option: String, _ mark: String, _ content: String
  ) throws(CommandFailure) -> String? {
    guard let path = arguments.value(option) else { return nil }
    guard try NamedFile.text(path).contains(mark) else {
      throw CommandFailure(.badData, "\(path) has no \(content).")
    }
    return path
  }

  /// The same for exchanges of this command's own, which read `SSL_CERT_FILE` as the client does.
  var security: CurlSecurity {
    var security = CurlSecurity()
    let variable = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
    security.authorityFile = authorityFile ?? (variable?.isEmpty == false ? variable : nil)
    security.certificateFile = certificateFile
    security.keyFile = keyFile
    security.pinnedPublicKeys = pinnedPublicKeys
    return security
  }

  /// The same for a client.
  func apply(to configuration: inout ConnectionConfiguration) {
    configuration.authorityFile = authorityFile
    configuration.certificateFile = certificateFile
    configuration.keyFile = keyFile
    configuration.pinnedPublicKeys = pinnedPublicKeys
  }
}
