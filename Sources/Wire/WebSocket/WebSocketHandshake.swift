/// Why an upgrade was refused, with the status that says so.
package struct WebSocketUpgradeError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Rule: String, Sendable, Hashable {
    case method = "the opening handshake is a GET of HTTP/1.1"
    case upgrade = "no upgrade to websocket asked for"
    case version = "only version 13 is spoken"
    case key = "Sec-WebSocket-Key is not 16 bytes in base64"
    case protocols = "malformed Sec-WebSocket-Protocol"
    case extensions = "malformed Sec-WebSocket-Extensions"
    case body = "the opening handshake has no body"
    case status = "the server did not switch protocols"
    case accept = "Sec-WebSocket-Accept does not fit the key"
    case unofferedProtocol = "the server chose a subprotocol that was not offered"
    case unofferedExtension = "the server chose an extension that was not offered"
  }

  package var rule: Rule
  /// Towards a client: what the server answered instead of 101.
  package var answered: Int?
  /// Towards a client: the field `Retry-After` beside it.
  package var retryAfter: String?

  package init(_ rule: Rule, answered: Int? = nil, retryAfter: String? = nil) {
    self.rule = rule
    self.answered = answered
    self.retryAfter = retryAfter
  }

  package var description: String { answered.map { "\(rule.rawValue) (status \($0))" } ?? rule.rawValue }

  /// What a server answers.
  package var status: Int { rule == .version ? 426 : rule == .method ? 405 : 400 }

  /// The header fields that go with the status: what the server would accept.
  package var fields: [(String, String)] {
    switch rule {
    case .version: [("Sec-WebSocket-Version", "13")]
    case .method: [("Allow", "GET")]
    default: []
    }
  }
}

enum WebSocketKey {
  /// The proof that a server read the key (RFC 6455 section 4.2.2).
  static func accept(_ key: String) -> String {
    Base64.encode(SHA1.digest(Array(key.utf8) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
  }
}

/// A client's wish to upgrade, checked.
package struct WebSocketUpgradeRequest: Sendable, Equatable {
  package let key: String
  /// Offered subprotocols in the client's order.
  package let subprotocols: [String]
  package let extensions: [WebSocketExtension]

  /// Whether `head` asks for a WebSocket at all, well or badly.
  package static func isAsked(by head: HTTPRequestHead) -> Bool {
    head.headers.lists("websocket", in: "Upgrade")
  }

  /// Checks the opening handshake (section 4.2.1).
  package init(_ head: HTTPRequestHead) throws(WebSocketUpgradeError) {
    let headers = head.headers
    guard head.method == "GET", head.minorVersion == 1 else { throw WebSocketUpgradeError(.method) }
    guard headers.lists("websocket", in: "Upgrade"), headers.lists("upgrade", in: "Connection") else {
      throw WebSocketUpgradeError(.upgrade)
    }
    let versions = headers.values("Sec-WebSocket-Version")
    guard versions.count == 1, versions[0].elementsEqual("13".utf8) else { throw WebSocketUpgradeError(.version) }
    let keys = headers.values("Sec-WebSocket-Key")
    guard keys.count == 1, Base64.decodedCount([UInt8](keys[0])) == 16 else { throw WebSocketUpgradeError(.key) }
    if headers.contains("Transfer-Encoding") || (headers["Content-Length"] ?? "0") != "0" {
      throw WebSocketUpgradeError(.body)
    }
    let protocols = headers.list("Sec-WebSocket-Protocol")
    guard protocols.allSatisfy(Self.isSubprotocol) else { throw WebSocketUpgradeError(.protocols) }
    guard let extensions = WebSocketExtension.parse(headers) else { throw WebSocketUpgradeError(.extensions) }
    key = String(decoding: keys[0], as: UTF8.self)
    subprotocols = protocols.map { String(decoding: $0, as: UTF8.self) }
    self.extensions = extensions
  }

  /// A token. Some AppSync clients pad the base64 of `header-…`, which then is none.
  private static func isSubprotocol(_ name: ArraySlice<UInt8>) -> Bool {
    guard name.starts(with: "header-".utf8) else { return HTTPSyntax.isToken(name) }
    let padding = name.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    return HTTPSyntax.isToken(name.dropLast(padding))
  }

  /// The answer that opens the connection.
  package func response(
    subprotocol: String? = nil, deflate: String? = nil, headers: HTTPHeaders = HTTPHeaders()
  ) -> HTTPResponseHead {
    var all = HTTPHeaders()
    all.append("Upgrade", "websocket")
    all.append("Connection", "Upgrade")
    all.append("Sec-WebSocket-Accept", WebSocketKey.accept(key))
    if let subprotocol { all.append("Sec-WebSocket-Protocol", subprotocol) }
    if let deflate { all.append("Sec-WebSocket-Extensions", deflate) }
    for index in 0..<headers.count { all.append(name: headers.name(at: index), value: headers.value(at: index)) }
    return HTTPResponseHead(status: 101, headers: all)
  }
}

/// A client's side of the opening handshake.
package struct WebSocketClientHandshake: Sendable {
  /// What both ends agreed on.
  package struct Agreed: Equatable, Sendable {
    package var subprotocol: String?
    package var deflate: WebSocketDeflate?
  }

  package let request: HTTPRequestHead
  private let key: String
  private let subprotocols: [String]
  private let deflate: WebSocketDeflateSettings?

  /// - Parameters:
  ///   - host: `host` or `host:port` as it goes into the Host header.
  ///   - target: path and query.
  ///   - headers: more fields, such as Authorization or Origin.
  ///   - deflate: offers compression when given.
  ///   - random: draws the 16 bytes of the key.
  package init(
    host: String, target: String, subprotocols: [String] = [], headers: HTTPHeaders = HTTPHeaders(),
    deflate: WebSocketDeflateSettings? = nil, random: inout any RandomNumberGenerator
  ) {
    let words = [random.next(), random.next()]
    let nonce = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) } }
    key = Base64.encode(nonce)
    self.subprotocols = subprotocols
    self.deflate = deflate
    var all = HTTPHeaders()
    all.append("Host", host)
    all.append("Upgrade", "websocket")
    all.append("Connection", "Upgrade")
    all.append("Sec-WebSocket-Key", key)
    all.append("Sec-WebSocket-Version", "13")
    if !subprotocols.isEmpty { all.append("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")) }
    if let deflate { all.append("Sec-WebSocket-Extensions", deflate.offer) }
    for index in 0..<headers.count { all.append(name: headers.name(at: index), value: headers.value(at: index)) }
    request = HTTPRequestHead(method: "GET", target: target, headers: all)
  }

  /// Checks the server's answer (section 4.1). Any failure means: drop the connection.
  package func validate(_ response: HTTPResponseHead) throws(WebSocketUpgradeError) -> Agreed {
    let headers = response.headers
    guard response.status == 101 else { throw WebSocketUpgradeError(.status, answered: response.status) }
    guard headers.lists("websocket", in: "Upgrade"), headers.lists("upgrade", in: "Connection") else {
      throw WebSocketUpgradeError(.upgrade)
    }
    let proofs = headers.values("Sec-WebSocket-Accept")
    guard proofs.count == 1, proofs[0].elementsEqual(WebSocketKey.accept(key).utf8) else {
      throw WebSocketUpgradeError(.accept)
    }
    var agreed = Agreed()
    let chosen = headers.values("Sec-WebSocket-Protocol")
    if let first = chosen.first {
      guard chosen.count == 1, let name = subprotocols.first(where: { first.elementsEqual($0.utf8) }) else {
        throw WebSocketUpgradeError(.unofferedProtocol)
      }
      agreed.subprotocol = name
    }
    guard let extensions = WebSocketExtension.parse(headers) else { throw WebSocketUpgradeError(.extensions) }
    if let answer = extensions.first {
      guard extensions.count == 1, let deflate, let parameters = deflate.agreed(answer) else {
        throw WebSocketUpgradeError(.unofferedExtension)
      }
      agreed.deflate = parameters
    }
    return agreed
  }
}
