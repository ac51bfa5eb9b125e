/// Decides from `Host` and `Origin` whether a request may have come from a web page that must not use the server.
///
/// A development server needs no credentials, so it must not be reachable through a browser that shows another site's
/// page: such a page can send requests to loopback, but it cannot forge these two headers.
package struct OriginCheck: Sendable {
  /// Why a request was refused.
  package enum Refusal: String, Sendable {
    case host = "The Host header does not name this development server."
    case origin = "The Origin header does not belong to this development server."
    case forwarded =
      "A development server does not serve requests that a proxy forwards: start it with --access for others."
    case repeatedOrigin = "The request has more than one Origin header."
    case notLoopback = "A development server answers on the loopback network only."
  }

  package enum Policy: Sendable {
    /// Only loopback peers, names and origins: `--dev`.
    case loopbackOnly
    /// Any host; an origin only from this list, or any when the list is nil.
    case origins(Set<String>?)
  }

  package var policy: Policy

  package init(_ policy: Policy) {
    self.policy = policy
  }

  /// Nil when the request may proceed.
  ///
  /// - Parameters:
  ///   - hasSeveralOrigins: Whether `origin` is the first of several. No browser sends two (RFC 6454 section 7.3), and
  ///     a program in front may have judged another one.
  ///   - isForwarded: Whether a header field says that a proxy sent the request for another client, who may be
  ///     anywhere. Asked by a development server alone.
  package func refusal(
    host: String?, origin: String?, hasSeveralOrigins: Bool = false, peerIsLoopback: Bool,
    isForwarded: @autoclosure () -> Bool = false
  ) -> Refusal? {
    if hasSeveralOrigins { return .repeatedOrigin }
    switch policy {
    case .loopbackOnly:
      guard !isForwarded() else { return .forwarded }
      guard peerIsLoopback else { return .notLoopback }
      guard let host, Self.isLoopback(authority: host[...]) else { return .host }
      guard let origin else { return nil }
      return Self.isLoopback(origin: origin) ? nil : .origin
    case .origins(nil):
      return nil
    case .origins(let allowed?):
      guard let origin else { return nil }
      return allowed.contains { $0.utf8.elementsEqual(origin.utf8) } ? nil : .origin
    }
  }

  /// Whether an origin is on the loopback network.
  static func isLoopback(origin: String) -> Bool {
    authority(of: origin).map { isLoopback(authority: $0) } ?? false
  }

  /// Whether `text` is an origin as browsers write it: `scheme://host`, perhaps with a port, and nothing after it.
  static func isOrigin(_ text: String) -> Bool {
    guard let authority = authority(of: text) else { return false }
    let parts = split(authority)
    return parts.map { !$0.host.isEmpty } ?? false
  }

  /// Whether `authority` (a host, perhaps with a port) names the loopback network.
  static func isLoopback(authority: Substring) -> Bool {
    guard let (host, _) = split(authority) else { return false }
    // Bytes, because every request of a development server is asked this.
    let bytes = host.utf8
    if bytes.elementsEqual("[::1]".utf8) || bytes.lazy.map(lowercased).elementsEqual("localhost".utf8) { return true }
    guard bytes.first == 0x31 else { return false }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy(isOctet)
  }

  // MARK: Grammar (RFC 3986 section 3.2, without user information and percent-encoding)

  /// What follows `scheme://`; nil without a scheme.
  private static func authority(of origin: String) -> Substring? {
    guard let colon = origin.firstIndex(of: ":"), origin[colon...].hasPrefix("://") else { return nil }
    let scheme = origin[..<colon].utf8
    guard let first = scheme.first, isLetter(first),
      scheme.allSatisfy({ isLetter($0) || isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0) })
    else { return nil }
    return origin[origin.index(colon, offsetBy: 3)...]
  }

  /// Host and port; nil for what is not a host with or without a port.
  private static func split(_ authority: Substring) -> (host: Substring, port: Substring?)? {
    let hostEnd: Substring.Index
    if authority.utf8.first == 0x5B {
      guard let end = authority.utf8.firstIndex(of: 0x5D) else { return nil }
      let address = authority[authority.index(after: authority.startIndex)..<end].utf8
      guard !address.isEmpty, address.allSatisfy({ isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E }) else { return nil }
      hostEnd = authority.index(after: end)
    } else {
      hostEnd = authority.utf8.firstIndex(of: 0x3A) ?? authority.endIndex
      let name = authority[..<hostEnd].utf8
      guard !name.isEmpty, name.allSatisfy(isNameByte) else { return nil }
    }
    let rest = authority[hostEnd...]
    if rest.isEmpty { return (authority[..<hostEnd], nil) }
    let port = rest.dropFirst()
    guard rest.utf8.first == 0x3A, isPort(port) else { return nil }
    return (authority[..<hostEnd], port)
  }

  /// A decimal number from 1 to 65535, without a sign and without leading zeros: no browser writes them.
  private static func isPort(_ text: Substring) -> Bool {
    text.utf8.allSatisfy(isDigit) && text.utf8.first != 0x30 && UInt16(text) != nil
  }

  /// A decimal number from 0 to 255, without a sign and without leading zeros, which some systems read as octal.
  private static func isOctet(_ text: Substring) -> Bool {
    guard text.utf8.allSatisfy(isDigit), text.utf8.count == 1 || text.utf8.first != 0x30 else { return false }
    return UInt8(text) != nil
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
  }
  private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
  private static func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (0x61...0x66).contains(byte | 0x20) }
}
