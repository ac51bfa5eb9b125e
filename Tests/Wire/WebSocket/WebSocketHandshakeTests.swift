import MartletVocabulary
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct WebSocketHandshakeTests {
  static func head(_ changes: [String: String?] = [:], method: String = "GET", minorVersion: Int = 1) -> HTTPRequestHead
  {
    var fields = [
      ("Host", "server.example.com"), ("Upgrade", "websocket"), ("Connection", "keep-alive, Upgrade"),
      ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"),
      ("Sec-WebSocket-Protocol", "chat, superchat"),
    ]
    for (name, value) in changes {
      fields.removeAll { $0.0 == name }
      if let value { fields.append((name, value)) }
    }
    return HTTPRequestHead(method: method, target: "/chat", minorVersion: minorVersion, headers: HTTPHeaders(fields))
  }

  @Test func `the sample of RFC 6455 section 1_3 is answered as there`() throws {
    let request = try WebSocketUpgradeRequest(Self.head())
    #expect(request.subprotocols == ["chat", "superchat"])
    let response = request.response(subprotocol: "chat")
    #expect(response.status == 101)
    #expect(response.headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    #expect(response.headers["sec-websocket-protocol"] == "chat")
  }

  @Test(
    arguments: [
      (["Upgrade": nil], .upgrade, 400), (["Upgrade": "h2c"], .upgrade, 400), (["Connection": "close"], .upgrade, 400),
      (["Sec-WebSocket-Version": "8"], .version, 426), (["Sec-WebSocket-Version": nil], .version, 426),
      (["Sec-WebSocket-Key": nil], .key, 400), (["Sec-WebSocket-Key": "c2hvcnQ="], .key, 400),
      (["Sec-WebSocket-Key": "not base64 at all!!!!!!!!"], .key, 400),
      (["Sec-WebSocket-Protocol": "a b"], .protocols, 400),
      (["Sec-WebSocket-Extensions": "permessage-deflate; =5"], .extensions, 400), (["Content-Length": "5"], .body, 400),
    ] as [([String: String?], WebSocketUpgradeError.Rule, Int)])
  func `a faulty opening handshake is refused with its status`(
    changes: [String: String?], rule: WebSocketUpgradeError.Rule, status: Int
  ) {
    #expect(throws: WebSocketUpgradeError(rule)) { try WebSocketUpgradeRequest(Self.head(changes)) }
    #expect(WebSocketUpgradeError(rule).status == status)
  }

  @Test func `only GET of HTTP 1_1 upgrades`() {
    #expect(throws: WebSocketUpgradeError(.method)) { try WebSocketUpgradeRequest(Self.head(method: "POST")) }
    #expect(throws: WebSocketUpgradeError(.method)) { try WebSocketUpgradeRequest(Self.head(minorVersion: 0)) }
  }

  private func client(
    deflate: WebSocketDeflateSettings? = nil, subprotocols: [String] = ["graphql-transport-ws"]
  ) -> WebSocketClientHandshake {
    var random: any RandomNumberGenerator = SeededRandom(seed: 3)
    return WebSocketClientHandshake(
      host: "localhost:8080", target: "/graphql", subprotocols: subprotocols, deflate: deflate, random: &random)
  }

  @Test func `our client and our server agree`() throws {
    let client = client(deflate: .client)
    let request = try WebSocketUpgradeRequest(client.request)
    let deflate = try #require(WebSocketDeflateSettings().accept(request.extensions))
    let response = request.response(subprotocol: request.subprotocols[0], deflate: deflate.response)
    let agreed = try client.validate(response)
    #expect(agreed == .init(subprotocol: "graphql-transport-ws", deflate: deflate.agreed))
    #expect(deflate.agreed.serverNoContextTakeover && deflate.agreed.clientNoContextTakeover)
  }

  @Test func `a client refuses an answer that does not fit its request`() throws {
    let client = client()
    let request = try WebSocketUpgradeRequest(client.request)
    #expect(throws: WebSocketUpgradeError(.unofferedProtocol)) {
      try client.validate(request.response(subprotocol: "other"))
    }
    #expect(throws: WebSocketUpgradeError(.unofferedExtension)) {
      try client.validate(request.response(deflate: "permessage-deflate"))
    }
    #expect(throws: WebSocketUpgradeError(.accept)) {
      try client.validate(WebSocketUpgradeRequest(Self.head()).response())
    }
    #expect(throws: WebSocketUpgradeError(.status, answered: 503)) {
      try client.validate(HTTPResponseHead(status: 503))
    }
    #expect(try client.validate(request.response()) == .init())
  }

  // MARK: permessage-deflate

  private func accept(_ offers: String, _ settings: WebSocketDeflateSettings = .client) throws -> String? {
    let headers = HTTPHeaders([("Sec-WebSocket-Extensions", offers)])
    return settings.accept(try #require(WebSocketExtension.parse(headers)))?.response
  }

  @Test(
    arguments: [
      ("permessage-deflate", "permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
      (
        "permessage-deflate; server_max_window_bits=10",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10"
      ),
      (
        "permessage-deflate; server_max_window_bits=\"10\"",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10"
      ),
      (
        "x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=8, permessage-deflate",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
      ),
      ("permessage-deflate; server_max_window_bits", nil), ("permessage-deflate; server_max_window_bits=16", nil),
      ("permessage-deflate; server_max_window_bits=7", nil), ("permessage-deflate; server_max_window_bits=010", nil),
      ("permessage-deflate; client_max_window_bits=99", nil), ("permessage-deflate; unknown", nil),
      ("permessage-deflate; server_no_context_takeover=1", nil),
      ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil),
    ] as [(String, String?)])
  func `an offer is accepted by its parameters or declined whole`(offer: String, response: String?) throws {
    #expect(try accept(offer) == response)
  }

  @Test func `the client's window shrinks only when the client said it can`() throws {
    var settings = WebSocketDeflateSettings.client
    settings.clientMaxWindowBits = 11
    #expect(try accept("permessage-deflate", settings)?.contains("client_max") == false)
    #expect(
      try accept("permessage-deflate; client_max_window_bits", settings)?.contains("client_max_window_bits=11") == true)
    #expect(try accept("permessage-deflate; client_max_window_bits=10", settings)?.contains("client_max") == false)
  }

  @Test(arguments: [
    ("permessage-deflate; server_no_context_takeover", true),
    ("permessage-deflate; server_no_context_takeover; client_max_window_bits=9; server_max_window_bits=15", true),
    ("permessage-deflate", false), ("permessage-deflate; server_no_context_takeover; client_max_window_bits", false),
    ("permessage-deflate; server_no_context_takeover; client_max_window_bits=8", false),
    ("permessage-deflate; server_no_context_takeover; novel", false), ("other", false),
  ])
  func `a client checks the answer against its offer`(answer: String, fits: Bool) throws {
    let headers = HTTPHeaders([("Sec-WebSocket-Extensions", answer)])
    let parsed = try #require(WebSocketExtension.parse(headers)?.first)
    #expect((WebSocketDeflateSettings.client.agreed(parsed) != nil) == fits)
  }
}
