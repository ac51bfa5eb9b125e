import MartletGraphQLWire
import MartletJSON
import MartletServer
import Testing

/// Credentials that must not be accepted, at every door: each is refused as the door does and counted by its reason,
/// its caller gets no explanation, and other callers are not disturbed.
@Suite(.timeLimit(.minutes(1))) struct HostileCredentialTests {
  private static let schema = """
    type Note @model @auth(rules: [{allow: private}]) { id: ID! text: String }
    type Query { caller: String }
    """

  private static func claims(_ more: String) -> [UInt8] {
    Array(#"{"iss":"\#(Mint.issuer)","sub":"eve","aud":"board",\#(more)}"#.utf8)
  }

  /// Tokens by the reason in the operator's log.
  private static let tokens: [(reason: String, token: String)] = [
    ("expired", Mint.token("eve", until: 1_000)), ("wrong-audience", Mint.token("eve", audience: "other")),
    ("not-yet-valid", Mint.token(claims: claims(#""exp":4102444800,"nbf":4102444000"#))),
    ("wrong-type", Mint.token(claims: claims(#""exp":"4102444800""#))),
    ("missing-claim", Mint.token(claims: claims(#""x":1"#))),
    ("malformed-json", Mint.token(claims: claims(#""exp":4102444800,"exp":4102444801"#))),
    (
      "malformed-json",
      Mint.token(
        claims: claims(
          #""exp":4102444800,"x":"# + String(repeating: "[", count: 60) + String(repeating: "]", count: 60)))
    ),
    ("too-large", Mint.token(claims: claims(#""exp":4102444800,"x":"\#(String(repeating: "x", count: 14_000))""#))),
    ("unsigned", Mint.token("eve", header: #"{"alg":"none"}"#)),
    ("algorithm-mismatch", Mint.token("eve", header: #"{"alg":"RS256"}"#)),
    ("not-understood", Mint.token("eve", header: #"{"alg":"HS256","crit":["x"],"x":1}"#)),
    ("other-kind", Mint.token("eve", header: #"{"alg":"HS256","typ":"logout+jwt"}"#)),
    ("wrong-signature", Mint.token("eve").replacingSignature()),
  ]

  private static func with(_ body: (GraphQLServer) async throws -> Void) async throws {
    let file = try AccessFile(#"{"tokens":[\#(Mint.entry)]}"#)
    try await Served.with(
      schema,
      { configuration in
        configuration.access = .keys(file)
        configuration.resolvers = { $0.compute("Query", "caller") { _ in "called" } }
      }, body)
  }

  /// How many credentials were refused, by reason.
  private static func counted(_ port: Int) async throws -> [String: Int] {
    let own = [("Authorization", "Bearer \(Mint.token("ada"))")]
    var counts: [String: Int] = [:]
    for line in try await HTTPRequest.send("GET", "/metrics", port: port, headers: own).text.split(separator: "\n") {
      guard let start = line.firstRange(of: "refused_by_reason_total{reason=\"")?.upperBound else { continue }
      let rest = line[start...]
      counts[String(rest.prefix { $0 != "\"" })] = line.split(separator: " ").last.flatMap { Int($0) }
    }
    return counts
  }

  @Test func `tokens that are not good are refused at every door by reason, and a bystander gets its events`()
    async throws
  {
    try await Self.with { server in
      let port = server.port
      let bystander = try await StreamedResponse.open(
        Talk.subscription, accept: "text/event-stream", headers: [("Authorization", "Bearer \(Mint.token("ada"))")],
        port: port)
      #expect(await bystander.heard { $0 == .heartbeat }.last == .heartbeat)
      let json = ("Content-Type", "application/json")
      let live = #"{"query":"\#(Talk.subscription)"}"#
      let doors: [(method: String, path: String, headers: [(String, String)], body: String?)] = [
        ("POST", "/graphql", [json], #"{"query":"{ caller }"}"#), ("GET", "/graphql?query=%7Bcaller%7D", [], nil),
        ("POST", "/graphql", [json], #"[{"query":"{ caller }"},{"query":"{ caller }"}]"#),
        ("POST", "/graphql", [json, ("Accept", "text/event-stream")], live),
        ("POST", "/graphql", [json, ("Accept", "multipart/mixed;subscriptionSpec=1.0")], live),
        ("POST", "/graphql/stream", [json], live), ("PUT", "/graphql/stream", [], ""), ("GET", "/metrics", [], nil),
      ]
      var expected: [String: Int] = [:]
      for (reason, token) in Self.tokens {
        let shown = ("Authorization", "Bearer \(token)")
        for door in doors {
          let answer = try await HTTPRequest.send(
            door.method, door.path, port: port, headers: door.headers + [shown], body: door.body)
          #expect(answer.status == 401, "\(reason) at \(door.path): \(answer.status)")
          // Neither why, nor what was shown.
          #expect(!answer.text.contains(reason) && !answer.text.contains(token.suffix(20)), "\(answer.text)")
        }
        for talk in Talk.all {
          let socket = try await talk.open(port, authorization: ["Authorization": .string(token)])
          socket.send(talk.initialise(["Authorization": .string(token)]))
          if talk.dialect != .graphqlTransportWS {
            let error = try await socket.message()
            #expect(error["type"] == "connection_error" && !"\(error)".contains(reason), "\(talk.dialect): \(error)")
          }
          let codes: [Dialect: UInt16] = [.graphqlTransportWS: 4403, .graphqlWS: 1011, .appSync: 1008]
          #expect(await socket.closeCode() == codes[talk.dialect], "\(reason): \(talk.dialect)")
        }
        expected[reason, default: 0] += doors.count + Talk.all.count
      }
      let counts = try await Self.counted(port)
      for (reason, count) in expected { #expect(counts[reason] == count, "\(reason): \(counts)") }
      try await server.transaction { _ = try $0.create("Note", ["id": "1", "text": "on"]) }
      let event = StreamedResponse.Heard.result(["data": ["onCreateNote": ["text": "on"]]])
      #expect(await bystander.heard { $0 == event }.last == event)
      bystander.abort()
    }
  }

  @Test func `a field that is malformed, folded, doubled or holds a line's end opens no door`() async throws {
    try await Self.with { server in
      let good = Mint.token("ada")
      let fields = [
        "Authorization : Bearer \(good)", "Authorization: Bearer\r\n \(good)", " Authorization: Bearer \(good)",
        "Authorization: Bearer \(good)\u{0}", "Authorization: Bearer \(good)\nX-More: 1",
        "Authorization\r: Bearer \(good)",
        "Authorization: Bearer \(good)\r\nAuthorization: Bearer \(good)x",
        "Authorization: Bearer \(good)x\r\nAuthorization: Bearer \(good)", "Authorization: Bearer \(good) \(good)",
        "Authorization: Bearer\t\t", "Authorization:", "Authorization: Basic \(good)", "Cookie: Authorization=\(good)",
        "Proxy-Authorization: Bearer \(good)", "Authorization: Bearer \"\(good)\"",
      ]
      for field in fields {
        let (name, value) = (field.prefix { $0 != ":" }, field.drop { $0 != ":" }.dropFirst(2))
        let answer = try await HTTPRequest.send(
          "POST", "/graphql", port: server.port,
          headers: [("Content-Type", "application/json"), (String(name), String(value))],
          body: #"{"query":"{ caller }"}"#)
        #expect([400, 401].contains(answer.status), "\(field.prefix(24)): \(answer.status) \(answer.text)")
        #expect(!answer.head.contains("X-More"))
      }
      // Credentials are not taken from a URL.
      for path in [
        "/graphql?access_token=\(good)", "/graphql?Authorization=Bearer%20\(good)", "/graphql?token=\(good)",
      ] {
        let answer = try await HTTPRequest.send(
          "POST", path, port: server.port, headers: [("Content-Type", "application/json")],
          body: #"{"query":"{ caller }"}"#)
        #expect(answer.status == 401, "\(path.prefix(24))")
      }
      let fine = try await HTTPRequest.graphql(
        "{ caller }", port: server.port, headers: [("Authorization", "Bearer \(good)")])
      #expect(fine.json["data"]?["caller"] == "called")
    }
  }
}

extension String {
  /// The same token with another signature.
  fileprivate func replacingSignature() -> String {
    guard let dot = lastIndex(of: ".") else { return self }
    let first = self[index(after: dot)]
    return self[...dot] + (first == "A" ? "B" : "A") + self[index(dot, offsetBy: 2)...]
  }
}
