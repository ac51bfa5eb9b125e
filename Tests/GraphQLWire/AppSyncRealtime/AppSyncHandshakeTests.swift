import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

/// How an authorization travels in the opening handshake, and what distinguishes the dialects.
@Suite struct AppSyncHandshakeTests {
  private let blob: JSONObject = ["host": "api.example", "Authorization": "ü>>>???~~"]

  private func choose(_ target: String, _ subprotocols: [String]) throws -> DialectChoice? {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return try DialectChoice.choose(
      path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil, subprotocols: subprotocols)
  }

  @Test func `what a client sends in the query, the server reads`() throws {
    let opening = AppSyncRealtime.Opening(.query, authorization: blob, target: "/graphql?stage=1")
    #expect(opening.subprotocols == ["graphql-ws"])
    #expect(opening.target.hasPrefix("/graphql?stage=1&header=") && opening.target.hasSuffix("&payload=e30%3D"))
    #expect(try choose(opening.target, opening.subprotocols) == DialectChoice(.appSync, authorization: blob))
  }

  @Test func `what a client sends as a subprotocol, the server reads, padded or not`() throws {
    let opening = AppSyncRealtime.Opening(.subprotocol, authorization: blob, target: "/graphql")
    #expect(opening.target == "/graphql" && opening.subprotocols.count == 2)
    #expect(HTTPSyntax.isToken(Array(opening.subprotocols[1].utf8)[...]))
    for padding in ["", "=", "=="] {
      let names = [opening.subprotocols[0], opening.subprotocols[1] + padding]
      #expect(try choose("/graphql", names) == DialectChoice(.appSync, authorization: blob))
    }
  }

  @Test func `an upgrade request may carry a padded header subprotocol`() throws {
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    let handshake = WebSocketClientHandshake(
      host: "h", target: "/graphql/realtime", subprotocols: ["graphql-ws", "header-e30="], random: &random)
    let request = try WebSocketUpgradeRequest(handshake.request)
    #expect(request.subprotocols == ["graphql-ws", "header-e30="])
    for bad in ["a=b", "=", "header-=e30", "other="] {
      let handshake = WebSocketClientHandshake(host: "h", target: "/", subprotocols: [bad], random: &random)
      #expect(throws: WebSocketUpgradeError.self) { try WebSocketUpgradeRequest(handshake.request) }
    }
  }

  @Test func `header fields carry the members that are text, without the host`() throws {
    let opening = AppSyncRealtime.Opening(
      .headers, authorization: ["host": "h", "x-api-key": "k", "n": 1], target: "/graphql/realtime")
    #expect(opening.headers == [.init(name: "x-api-key", value: "k")])
    #expect(try choose(opening.target, opening.subprotocols) == DialectChoice(.appSync))
  }

  @Test func `raw base64 in a query is read, whichever alphabet and encoding`() throws {
    let plain = Base64.encode(JSONValue.object(blob).serialized())
    #expect(plain.contains("+") && plain.contains("/"))
    let safe = plain.replacing("+", with: "-").replacing("/", with: "_")
    for text in [
      plain, safe, plain.replacing("=", with: ""), plain.replacing("+", with: "%2B").replacing("/", with: "%2f"),
      plain.replacing("+", with: " "), plain.replacing("+", with: "%20"),
    ] {
      #expect(try choose("/graphql?header=\(text)&payload=e30=", ["graphql-ws"])?.authorization == blob)
    }
  }

  @Test func `an empty authorization in the query is the empty object, as clients without credentials send it`() throws
  {
    for query in ["header=&payload=e30=", "header&payload=", "header="] {
      #expect(try choose("/graphql?" + query, ["graphql-ws"]) == DialectChoice(.appSync, authorization: [:]))
    }
    #expect(throws: GraphQLRequestError.self) { try choose("/graphql", ["graphql-ws", "header-"]) }
  }

  @Test(arguments: [
    "header=%", "header=!!!!", "header=e30&payload=x", "header=WzFd", "header=e", "header=e3=0",
  ])
  func `an authorization that cannot be read is an error`(query: String) {
    #expect(throws: GraphQLRequestError.self) { try choose("/graphql?" + query, ["graphql-ws"]) }
    let name = "header-" + query.dropFirst(7).prefix { $0 != "&" }
    if !query.contains("payload") {
      #expect(throws: GraphQLRequestError.self) { try choose("/graphql", ["graphql-ws", name]) }
    }
  }

  @Test(
    arguments: [
      ("/graphql", ["graphql-transport-ws"], .graphqlTransportWS), ("/graphql", ["graphql-ws"], .graphqlWS),
      ("/graphql", ["graphql-ws", "graphql-transport-ws"], .graphqlTransportWS),
      ("/graphql/realtime", ["graphql-ws"], .appSync),
      ("/graphql/realtime", ["graphql-transport-ws"], .graphqlTransportWS),
      ("/graphql?payload=e30=", ["graphql-ws"], .graphqlWS),
      ("/graphql?header=x", ["graphql-transport-ws"], .graphqlTransportWS),
      ("/graphql", [], nil), ("/graphql", ["graphql-subscriptions"], nil), ("/graphql", ["header-e30"], nil),
      ("/graphql?header=e30=", ["graphql-ws", "graphql-transport-ws"], .appSync),
    ] as [(String, [String], Dialect?)])
  func `subprotocol, path and authorization decide`(
    target: String, subprotocols: [String], dialect: Dialect?
  ) throws {
    #expect(try choose(target, subprotocols)?.dialect == dialect)
  }

  @Test(arguments: [
    (
      "abc.appsync-api.eu-west-1.amazonaws.com", "/graphql", "abc.appsync-api.eu-west-1.amazonaws.com", "/graphql",
      "abc.appsync-realtime-api.eu-west-1.amazonaws.com", "/graphql"
    ),
    (
      "abc.appsync-realtime-api.eu-west-1.amazonaws.com", "/graphql", "abc.appsync-api.eu-west-1.amazonaws.com",
      "/graphql", "abc.appsync-realtime-api.eu-west-1.amazonaws.com", "/graphql"
    ),
    ("api.example", "/graphql", "api.example", "/graphql", "api.example", "/graphql/realtime"),
    ("api.example", "/graphql/realtime", "api.example", "/graphql", "api.example", "/graphql/realtime"),
    ("api.example", "/graphql/?a=1", "api.example", "/graphql/?a=1", "api.example", "/graphql/realtime?a=1"),
  ])
  func `both addresses follow from either`(
    host: String, target: String, apiHost: String, apiTarget: String, liveHost: String, liveTarget: String
  ) {
    let addresses = AppSyncRealtime.Addresses(host: host, target: target)
    #expect(addresses.graphQLHost == apiHost && addresses.graphQLTarget == apiTarget)
    #expect(addresses.realtimeHost == liveHost && addresses.realtimeTarget == liveTarget)
  }

  @Test func `base64 for URLs reads back, whatever the length`() throws {
    for count in 0...40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 97 + 251) }
      #expect(Base64.decodeLeniently(Base64.encodeForURL(bytes).utf8) == bytes)
      #expect(Base64.decodeLeniently(Base64.encode(bytes).utf8) == bytes)
    }
  }
}
