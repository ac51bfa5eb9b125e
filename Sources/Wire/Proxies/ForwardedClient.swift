/// The client of a request as trusted proxies name it, by `Forwarded` (RFC 7239) or `X-Forwarded-For`,
/// `X-Forwarded-Proto` and `X-Forwarded-Host`.
package struct ForwardedClient: Sendable, Hashable {
  /// The nearest address that is not a trusted proxy.
  package var address: IPAddress
  /// Whether the client's connection was encrypted; nil where it is not said.
  package var isSecure: Bool?
  /// The host that the client asked for; nil where it is not said.
  package var host: String?

  /// Why the fields of a request that a trusted proxy sent are not used.
  package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case malformed(String)
    /// Both forms are there and differ: one of them is the client's own, and which is not known.
    case contradiction

    package var description: String {
      switch self {
      case .malformed(let field): "the field \(field) cannot be read"
      case .contradiction: "Forwarded and X-Forwarded-For name different clients"
      }
    }
  }

  /// - Parameters:
  ///   - peer: The other end of the connection.
  ///   - trusted: The addresses of proxies whose fields are believed.
  /// - Returns: the client; the peer itself where it is not a trusted proxy, or forwards for no other.
  package static func find(
    _ headers: HTTPHeaders, peer: IPAddress, trusted: [AddressRange]
  ) throws(Failure) -> ForwardedClient {
    func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }
    guard isTrusted(peer) else { return ForwardedClient(address: peer) }
    let standard = try hops(in: texts(headers, "Forwarded"))
    let common = try commonHops(headers)
    switch (standard, common) {
    case (nil, nil): return ForwardedClient(address: peer)
    case (let hops?, nil), (nil, let hops?): return client(hops, peer, isTrusted)
    case (let one?, let other?):
      let (one, other) = (client(one, peer, isTrusted), client(other, peer, isTrusted))
      guard one.address == other.address else { throw .contradiction }
      return one
    }
  }

  /// What one proxy said about the end that connected to it.
  private struct Hop {
    /// Nil for an obfuscated name and for `unknown`.
    var address: IPAddress?
    var isSecure: Bool?
    var host: String?
  }

  /// The hops are walked from the nearest: each is believed as long as the one that said it is trusted.
  private static func client(
    _ hops: [Hop], _ peer: IPAddress, _ isTrusted: (IPAddress) -> Bool
  ) -> ForwardedClient {
    var found = ForwardedClient(address: peer)
    for hop in hops.reversed() {
      if let isSecure = hop.isSecure { found.isSecure = isSecure }
      if let host = hop.host { found.host = host }
      // Its name is hidden: what lies behind it is not known.
      guard let address = hop.address else { break }
      found.address = address
      if !isTrusted(address) { break }
    }
    return found
  }

  // MARK: X-Forwarded-*

  private static func commonHops(_ headers: HTTPHeaders) throws(Failure) -> [Hop]? {
    let fields = texts(headers, "X-Forwarded-For")
    guard !fields.isEmpty else { return nil }
    var hops: [Hop] = []
    for part in fields.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false) {
      let text = trimmed(part)
      if text.lowercased() == "unknown" {
        hops.append(Hop())
        continue
      }
      guard let address = IPAddress(node: text) else { throw .malformed("X-Forwarded-For") }
      hops.append(Hop(address: address))
    }
    // The nearest proxy's word; others append to lists of their own.
    if let last = texts(headers, "X-Forwarded-Proto").last.map({ list($0) })?.last {
      hops[hops.count - 1].isSecure = try isSecure(last, "X-Forwarded-Proto")
    }
    if let host = texts(headers, "X-Forwarded-Host").last.map({ list($0) })?.last {
      hops[hops.count - 1].host = host
    }
    return hops
  }

  private static func isSecure(_ scheme: String, _ field: String) throws(Failure) -> Bool {
    switch scheme.lowercased() {
    case "https", "wss": true
    case "http", "ws": false
    default: throw .malformed(field)
    }
  }

  private static func texts(_ headers: HTTPHeaders, _ name: StaticString) -> [String] {
    headers.values(name).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func list(_ text: String) -> [String] { text.split(separator: ",").map { trimmed($0) } }

  private static func trimmed(_ text: Substring) -> String {
    String(decoding: HTTPSyntax.trimmed(Array(text.utf8)[...]), as: UTF8.self)
  }

  // MARK: Forwarded

  private static func hops(in fields: [String]) throws(Failure) -> [Hop]? {
    guard !fields.isEmpty else { return nil }
    var hops: [Hop] = []
    for element in HTTPSyntax.split(Array(fields.joined(separator: ",").utf8)[...], at: UInt8(ascii: ",")) {
      var hop = Hop()
      var names: [String] = []
      for pair in HTTPSyntax.split(element, at: UInt8(ascii: ";")) where !pair.isEmpty {
        guard let sign = pair.firstIndex(of: UInt8(ascii: "=")), HTTPSyntax.isToken(pair[..<sign]),
          let value = text(pair[(sign + 1)...])
        else { throw .malformed("Forwarded") }
        let name = String(decoding: pair[..<sign].map(HTTPSyntax.lowercased), as: UTF8.self)
        guard !names.contains(name) else { throw .malformed("Forwarded") }
        names.append(name)
        switch name {
        case "for":
          // Obfuscated names begin with an underscore; both may have a port.
          if value.lowercased().hasPrefix("unknown") || value.hasPrefix("_") { break }
          guard let address = IPAddress(node: value) else { throw .malformed("Forwarded") }
          hop.address = address
        case "proto": hop.isSecure = try isSecure(value, "Forwarded")
        case "host": hop.host = value
        default: break
        }
      }
      hops.append(hop)
    }
    return hops
  }

  /// A token or a quoted text. Addresses without quotes have colons, which tokens do not; proxies send them so.
  private static func text(_ value: ArraySlice<UInt8>) -> String? {
    if value.first == UInt8(ascii: "\"") {
      return HTTPSyntax.parameterValue(value).map { String(decoding: $0, as: UTF8.self) }
    }
    let isPlain = !value.isEmpty && value.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    return isPlain ? String(decoding: value, as: UTF8.self) : nil
  }
}
