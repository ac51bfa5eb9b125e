/// Decides from `Host` and `Origin` whether a request may have come from a page that has no business here.
///
/// A development server is open to whoever reaches it, so it must not be reachable through a browser that shows
/// somebody else's page: such a page can send requests to loopback, but it cannot forge these two headers.
package struct OriginCheck: Sendable {
  /// Why a request was refused.
  package enum Refusal: String, Sendable {
    case host = "The Host header does not name this development server."
    case origin = "The Origin header does not belong to this development server."
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
  package func refusal(host: String?, origin: String?, peerIsLoopback: Bool) -> Refusal? {
    switch policy {
    case .loopbackOnly:
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

  /// Whether an origin, `scheme://host:port`, is on the loopback network.
  static func isLoopback(origin: String) -> Bool {
    position(of: "://", in: origin).map { isLoopback(authority: origin[$0...]) } ?? false
  }

  /// Whether `authority` (a host, perhaps with a port) names the loopback network.
  static func isLoopback(authority: Substring) -> Bool {
    var host = authority
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return false }
      let rest = host[host.index(after: end)...]
      guard rest.isEmpty || isPort(rest) else { return false }
      return host[...end] == "[::1]"
    }
    if let colon = host.firstIndex(of: ":") {
      guard isPort(host[colon...]) else { return false }
      host = host[..<colon]
    }
    if host.lowercased() == "localhost" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.first == ":" && UInt16(text.dropFirst()) != nil
  }

  private static func position(of needle: String, in text: String) -> String.Index? {
    var start = text.startIndex
    while start < text.endIndex {
      if text[start...].hasPrefix(needle) { return text.index(start, offsetBy: needle.count) }
      start = text.index(after: start)
    }
    return nil
  }
}
