import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Addresses of key sets that answer with something else than the issuer's keys.
@Suite(.timeLimit(.minutes(1))) struct LyingKeySetTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  /// What the address answers; nil hangs until the server that asks gives up.
  private struct Answer: Sendable {
    var status = 200
    var headers: [(String, String)] = []
    var body: String
  }

  private final class Publisher: Sendable {
    let answer = Lock<Answer?>(Answer(body: PublishedIssuer.set("k1")))
    let requests = Lock<[String]>([])

    func with(_ body: (String) async throws -> Void) async throws {
      try await Served.with(
        "type Query { a: String }",
        { configuration in
          configuration.resolvers = { $0.compute("Query", "a") { _ in JSONValue.null } }
          configuration.endpoints = [
            try ServerEndpoint("/keys", access: .open) { [self] _, response in
              requests.withLock { $0.append("/keys") }
              guard let answer = answer.withLock({ $0 }) else {
                for await _ in AsyncStream<Never>.makeStream().stream {}
                return
              }
              await response.send(answer.status, headers: answer.headers, body: Array(answer.body.utf8))
            },
            try ServerEndpoint("/elsewhere", access: .open) { [self] _, response in
              requests.withLock { $0.append("/elsewhere") }
              await response.send(200, body: Array(PublishedIssuer.set("k1", "k2").utf8))
            },
          ]
        }
      ) { try await body("http://127.0.0.1:\($0.port)") }
    }
  }

  private static func status(_ name: String, _ port: Int) async throws -> Int {
    let token = try #require(PublishedIssuer.tokens[name])
    return try await HTTPRequest.graphql(
      "{ listNotes { items { id } } }", port: port, headers: [("Authorization", "Bearer \(token)")]
    ).status
  }

  private static func expect(_ expected: Int, _ name: String, _ port: Int) async throws {
    let status = try await status(name, port)
    #expect(status == expected, "\(name)")
  }

  /// Serves with k1 in force, and lies once to the look that a token of k2 causes.
  private static func play(
    _ name: String, _ lie: Answer?, from publisher: Publisher, at address: String,
    _ check: (GraphQLServer, LogRecorder) async throws -> Void
  ) async throws {
    publisher.answer.withLock { $0 = Answer(body: PublishedIssuer.set("k1")) }
    publisher.requests.withLock { $0 = [] }
    let recorder = LogRecorder()
    let file = try AccessFile(
      #"{"tokens":[{"issuer":"\#(PublishedIssuer.name)","audience":"board","jwks":"\#(address)/keys"}]}"#)
    try await Served.with(
      schema,
      {
        $0.access = .keys(file)
        $0.log = recorder.log
        // No other look than the one that the token causes.
        $0.limits.access.firstKeySetPause = .seconds(600)
        $0.limits.access.greatestKeySetPause = .seconds(1_200)
        if lie == nil { $0.limits.access.keySetTimeout = .milliseconds(500) }
      }
    ) { server in
      try await expect(200, "k1 ada", server.port)
      publisher.answer.withLock { $0 = lie }
      try await expect(401, "k2 ada", server.port)
      try await check(server, recorder)
    }
  }

  @Test func `an answer that is not a key set leaves the last keys in force, is logged once, and nothing of it is`()
    async throws
  {
    let both = PublishedIssuer.set("k1", "k2")
    let moved = [("Location", "/elsewhere")]
    let lies: [(name: String, answer: Answer?)] = [
      ("redirect", Answer(status: 302, headers: moved, body: both)),
      ("refresh", Answer(status: 200, headers: [("Refresh", "0; url=/elsewhere")], body: "<html>lies</html>")),
      ("huge", Answer(body: both + String(repeating: " ", count: 524_288))),
      ("entries that are not keys", Answer(body: #"{"keys":[1,null,"x",[],{}]}"#)),
      ("a private secret", Answer(body: #"{"keys":[{"kty":"oct","kid":"k2","alg":"HS256","k":"\#(Self.secret)"}]}"#)),
      ("silence", nil),
    ]
    let publisher = Publisher()
    try await publisher.with { address in
      for (name, lie) in lies {
        try await Self.play(name, lie, from: publisher, at: address) { server, recorder in
          try await Self.expect(200, "k1 bob", server.port)
          #expect(publisher.requests.withLock { $0 } == ["/keys", "/keys"], "\(name)")
          let warnings = recorder.entries.filter {
            $0.message == "The key set of a token issuer cannot be fetched."
          }
          #expect(warnings.count == 1, "\(name): \(warnings)")
          #expect(!"\(recorder.entries)".contains("lies") && !"\(recorder.entries)".contains(Self.secret), "\(name)")
        }
      }
    }
  }

  private static let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr8"

  @Test func `keys of one name are ambiguous, and the others of their set are used`() async throws {
    let keys = PublishedIssuer.keys
    let impostor = (keys["k2"] ?? "").replacing("\"k2\"", with: "\"k1\"")
    let answer = Answer(body: "{\"keys\":[\(keys["k1"] ?? ""),\(impostor)]}")
    let unusable = #"{"kty":"OKP","crv":"Ed25519","kid":"k1","alg":"EdDSA","x":"AA"}"#
    let beside = Answer(body: "{\"keys\":[\(unusable),\(keys["k1"] ?? "")]}")
    let publisher = Publisher()
    try await publisher.with { address in
      try await Self.play("two k1", answer, from: publisher, at: address) { server, _ in
        // Neither of the two proves anything, whichever comes first.
        try await Self.expect(401, "k1 bob", server.port)
        try await Self.expect(401, "k2 bob", server.port)
      }
      try await Self.play("an unusable k1 beside the good one", beside, from: publisher, at: address) { server, _ in
        try await Self.expect(200, "k1 bob", server.port)
      }
    }
  }
}
