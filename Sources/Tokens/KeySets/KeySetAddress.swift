/// Where a key set may be fetched from: `https`, or `http` on this machine.
package struct KeySetAddress: Sendable, Hashable, CustomStringConvertible {
  /// The URL as it is requested.
  package let text: String

  package var description: String { text }

  /// Why a text is not such an address.
  package enum Refused: Error, Sendable, Hashable, CustomStringConvertible {
    /// Not an absolute `http` or `https` URL of a host, or with a user, a fragment or characters that a URL cannot
    /// have.
    case malformed
    /// `http` to another machine: anyone on the path could put in other keys.
    case notEncrypted

    package var description: String {
      switch self {
      case .malformed: "it is not an https URL"
      case .notEncrypted: "it must be https, except on this machine"
      }
    }
  }

  package init(_ text: String) throws(Refused) {
    let bytes = Array(text.utf8)
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.forbidden.contains($0) }) else { throw .malformed }
    let lower = text.lowercased()
    let isEncrypted = lower.hasPrefix("https://")
    guard isEncrypted || lower.hasPrefix("http://") else { throw .malformed }
    let rest = lower.utf8.dropFirst(isEncrypted ? 8 : 7)
    let authority = Array(rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
    guard let host = Self.host(authority) else { throw .malformed }
    guard isEncrypted || Self.loopback.contains(host) else { throw .notEncrypted }
    self.text = text
  }

  /// The discovery document of an issuer (OpenID Connect Discovery 1.0, section 4).
  package static func discovery(of issuer: String) throws(Refused) -> KeySetAddress {
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    guard !base.utf8.contains(UInt8(ascii: "?")) else { throw .malformed }
    return try KeySetAddress(base + "/.well-known/openid-configuration")
  }

  private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
  /// A backslash is read as a slash by some clients and not by others; a fragment is never sent.
  private static let forbidden = Array("#\\\"<>^`{|}".utf8)

  /// The host of an authority without its port; nil when it has a user or is malformed.
  private static func host(_ authority: [UInt8]) -> String? {
    guard !authority.contains(UInt8(ascii: "@")) else { return nil }
    var host = authority[...]
    let end = host.lastIndex(of: UInt8(ascii: "]")) ?? host.startIndex
    if let colon = host[end...].lastIndex(of: UInt8(ascii: ":")) {
      let port = host[(colon + 1)...]
      guard !port.isEmpty, port.count <= 5, port.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      host = host[..<colon]
    }
    guard !host.isEmpty else { return nil }
    if host.first == UInt8(ascii: "[") {
      return host.last == UInt8(ascii: "]") ? String(decoding: host, as: UTF8.self) : nil
    }
    let isName = host.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
    }
    return isName ? String(decoding: host, as: UTF8.self) : nil
  }
}
