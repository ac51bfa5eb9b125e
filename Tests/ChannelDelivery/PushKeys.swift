import Foundation
import MartletJSON
import Testing

/// Keys made by the openssl command, which also checks what was signed with them.
struct PushKeys: Sendable {
  /// PEM texts.
  let rsa: String
  let ec: String
  let rsaPublic: String
  let ecPublic: String

  /// One pair of keys for all tests; making them takes a while.
  static func shared() throws -> PushKeys { try made.get() }
  private static let made = Result { try PushKeys() }

  private init() throws {
    let folder = try TemporaryFolder()
    func key(_ name: String, _ words: [String]) throws -> (key: String, publicKey: String) {
      let (file, publicFile) = ("\(folder.path)/\(name).pem", "\(folder.path)/\(name).pub")
      try Tool.run(["openssl", "genpkey"] + words + ["-out", file])
      try Tool.run(["openssl", "pkey", "-in", file, "-pubout", "-out", publicFile])
      return (
        try String(contentsOfFile: file, encoding: .utf8), try String(contentsOfFile: publicFile, encoding: .utf8)
      )
    }
    (rsa, rsaPublic) = try key("rsa", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
    (ec, ecPublic) = try key("ec", ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
    withExtendedLifetime(folder) {}
  }

  /// Header and claims of a token whose signature openssl accepts.
  static func verified(
    _ token: String, by publicKey: String, isRSA: Bool
  ) throws -> (header: JSONValue, claims: JSONValue) {
    let parts = token.split(separator: ".").map(String.init)
    try #require(parts.count == 3)
    let folder = try TemporaryFolder()
    let (message, signature, key) = (folder.path + "/message", folder.path + "/signature", folder.path + "/key")
    try Data("\(parts[0]).\(parts[1])".utf8).write(to: URL(fileURLWithPath: message))
    try Data(publicKey.utf8).write(to: URL(fileURLWithPath: key))
    var bytes = try decode(parts[2])
    if !isRSA {
      try #require(bytes.count == 64)
      bytes = distinguished(bytes)
    }
    try Data(bytes).write(to: URL(fileURLWithPath: signature))
    try Tool.run(["openssl", "dgst", "-sha256", "-verify", key, "-signature", signature, message])
    withExtendedLifetime(folder) {}
    return (try JSONValue(parsing: decode(parts[0])), try JSONValue(parsing: decode(parts[1])))
  }

  private static func decode(_ text: String) throws -> [UInt8] {
    var base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    while base64.utf8.count % 4 != 0 { base64 += "=" }
    return Array(try #require(Data(base64Encoded: base64)))
  }

  /// r and s in DER.
  private static func distinguished(_ bytes: [UInt8]) -> [UInt8] {
    func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      var digits = Array(bytes.drop { $0 == 0 })
      if digits.first.map({ $0 & 0x80 != 0 }) ?? true { digits.insert(0, at: 0) }
      return [0x02, UInt8(digits.count)] + digits
    }
    let both = integer(bytes[..<32]) + integer(bytes[32...])
    return [0x30, UInt8(both.count)] + both
  }
}

/// Programs of the system.
enum Tool {
  struct Failed: Error { var words: [String] }

  static func run(_ words: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(words: words) }
  }
}
