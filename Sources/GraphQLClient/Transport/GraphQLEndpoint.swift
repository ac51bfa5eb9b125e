package import MartletRuntime

/// A GraphQL server's address: one for HTTP and WebSocket, distinguished by the scheme.
package struct GraphQLEndpoint: Sendable, Hashable {
  package var host: String
  package var port: Int
  package var isSecure: Bool
  /// Path and query, never empty.
  package var target: String

  package var address: ConnectionTarget { ConnectionTarget(host: host, port: port, isSecure: isSecure) }

  /// The Host field: the port is left out where it is the scheme's own.
  package var hostField: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// The URL for people: without the query, which may carry credentials.
  package var displayURL: String { displayURL(scheme: "http") }

  /// The same with `ws` or `wss`.
  package var displaySocketURL: String { displayURL(scheme: "ws") }

  private func displayURL(scheme: String) -> String {
    "\(scheme)\(isSecure ? "s" : "")://\(hostField)\(target.prefix { $0 != "?" })"
  }

  /// The URL for HTTP requests.
  package var httpURL: String { url(scheme: "http") }

  /// The URL for WebSockets.
  package var socketURL: String { url(scheme: "ws") }

  private func url(scheme: String) -> String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return "\(scheme)\(isSecure ? "s" : "")://\(name):\(port)\(target)"
  }

  /// Reads `ws:`, `wss:`, `http:` and `https:` URLs.
  /// - Throws: `invalidRequest`, naming what is wrong.
  package init(_ url: String) throws(GraphQLClientError) {
    func wrong(_ what: String) -> GraphQLClientError { GraphQLClientError(.invalidRequest, "\(what) in \(url)") }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw wrong("a space or a letter beyond ASCII") }
    guard let colon = url.range(of: "://") else { throw wrong("no scheme") }
    switch url[..<colon.lowerBound].lowercased() {
    case "ws", "http": isSecure = false
    case "wss", "https": isSecure = true
    default: throw wrong("a scheme that is none of ws, wss, http, https")
    }
    let rest = url[colon.upperBound...].prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let path = rest[authority.endIndex...]
    target = path.hasPrefix("/") ? String(path) : "/" + path
    var name = authority
    var number: Substring?
    if name.contains("@") { throw wrong("a user name") }
    if name.hasPrefix("[") {
      guard let end = name.firstIndex(of: "]") else { throw wrong("an open bracket") }
      let behind = name[name.index(after: end)...]
      if !behind.isEmpty {
        guard behind.hasPrefix(":") else { throw wrong("text after the address") }
        number = behind.dropFirst()
      }
      name = name[name.index(after: name.startIndex)..<end]
    } else if let separator = name.lastIndex(of: ":") {
      number = name[name.index(after: separator)...]
      name = name[..<separator]
    }
    guard !name.isEmpty else { throw wrong("no host") }
    host = String(name)
    guard let number else {
      port = isSecure ? 443 : 80
      return
    }
    guard let value = Int(number), (1...65_535).contains(value) else { throw wrong("a bad port") }
    port = value
  }
}

extension StringProtocol {
  /// Where `text` first stands, without Foundation.
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
