import MartletJSON
import MartletRuntime
import MartletServer
import Testing

/// Key sets that an issuer publishes, while a server uses them.
@Suite(.timeLimit(.minutes(1))) struct KeySetRotationTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  /// Publishes a key set that can be replaced; nil answers 500.
  private final class Publisher: Sendable {
    let set = Lock<String?>(nil)
    let requests = Lock(0)

    func with(_ body: (String) async throws -> Void) async throws {
      let schema = "type Query { a: String }"
      try await Served.with(
        schema,
        { configuration in
          configuration.resolvers = { $0.compute("Query", "a") { _ in JSONValue.null } }
          configuration.endpoints = [
            try ServerEndpoint("/keys", access: .open) { [self] _, response in
              requests.withLock { $0 += 1 }
              let set = self.set.withLock { $0 }
              await response.send(set == nil ? 500 : 200, body: Array((set ?? "").utf8))
            }
          ]
        }
      ) { try await body("http://127.0.0.1:\($0.port)/keys") }
    }
  }

  private static func access(_ address: String) throws -> AccessFile {
    try AccessFile(
      #"{"tokens":[{"issuer":"\#(PublishedIssuer.name)","audience":"board","jwks":"\#(address)"}]}"#)
  }

  private static func expect(_ status: Int, _ name: String, _ port: Int) async throws {
    let token = try #require(PublishedIssuer.tokens[name])
    let answer = try await HTTPRequest.graphql(
      "{ listNotes { items { id } } }", port: port, headers: [("Authorization", "Bearer \(token)")])
    #expect(answer.status == status, "\(name)")
  }

  @Test func `keys are fetched from their address, and a token of a key that was added later causes one look`()
    async throws
  {
    let publisher = Publisher()
    publisher.set.withLock { $0 = PublishedIssuer.set("k1") }
    try await publisher.with { address in
      try await Served.with(Self.schema, { $0.access = .keys(try Self.access(address)) }) { server in
        try await Self.expect(200, "k1 ada", server.port)
        publisher.set.withLock { $0 = PublishedIssuer.set("k1", "k2") }
        try await Self.expect(200, "k2 ada", server.port)
        try await Self.expect(200, "k1 bob", server.port)
        #expect(publisher.requests.withLock { $0 } == 2)
      }
    }
  }

  @Test func `P10: a socket waits for the key of its token, and ends when the key is withdrawn`() async throws {
    let publisher = Publisher()
    publisher.set.withLock { $0 = PublishedIssuer.set("k1") }
    try await publisher.with { address in
      try await Served.with(Self.schema, { $0.access = .keys(try Self.access(address)) }) { server in
        let token = try #require(PublishedIssuer.tokens["k1 ada"])
        let socket = try await RawSocket.open(port: server.port)
        socket.send(#"{"type":"connection_init","payload":{"authToken":"\#(token)"}}"#)
        _ = try await socket.message("connection_ack")
        publisher.set.withLock { $0 = PublishedIssuer.set("k2") }
        // Its key is unknown here, so that the set is looked at again, and the first key is gone.
        try await Self.expect(200, "k2 bob", server.port)
        #expect(await socket.closing() == RawSocket.Closing(4403, "The credentials were withdrawn."))
        try await Self.expect(401, "k1 ada", server.port)
      }
    }
  }

  @Test func `P10: an operator who has the access read again has published keys fetched, and what is withdrawn ends`()
    async throws
  {
    let publisher = Publisher()
    publisher.set.withLock { $0 = PublishedIssuer.set("k1") }
    try await publisher.with { address in
      let access = try Self.access(address)
      try await Served.with(Self.schema, { $0.access = .keys(access) }) { server in
        let token = try #require(PublishedIssuer.tokens["k1 ada"])
        let socket = try await RawSocket.open(port: server.port)
        socket.send(#"{"type":"connection_init","payload":{"authToken":"\#(token)"}}"#)
        _ = try await socket.message("connection_ack")
        publisher.set.withLock { $0 = PublishedIssuer.set("k2") }
        try server.reload(access: access)
        #expect(await socket.closing() == RawSocket.Closing(4403, "The credentials were withdrawn."))
        try await Self.expect(200, "k2 ada", server.port)
        try await Self.expect(401, "k1 bob", server.port)
      }
    }
  }

  @Test func `an outage of the address refuses tokens of unknown keys and no others`() async throws {
    let publisher = Publisher()
    publisher.set.withLock { $0 = PublishedIssuer.set("k1") }
    try await publisher.with { address in
      try await Served.with(Self.schema, { $0.access = .keys(try Self.access(address)) }) { server in
        try await Self.expect(200, "k1 ada", server.port)
        publisher.set.withLock { $0 = nil }
        try await Self.expect(401, "k2 ada", server.port)
        try await Self.expect(200, "k1 bob", server.port)
      }
    }
  }

  @Test func `a key set in a file is read with the access file, and again with it`() async throws {
    let set = Lock(PublishedIssuer.set("k1"))
    let text = #"{"tokens":[{"issuer":"\#(PublishedIssuer.name)","audience":"board","keysFile":"keys/set.json"}]}"#
    func access() throws -> AccessFile {
      try AccessFile(
        text,
        reading: {
          #expect($0 == "keys/set.json")
          return set.withLock { $0 }
        })
    }
    try await Served.with(Self.schema, { $0.access = .keys(try access()) }) { server in
      try await Self.expect(200, "k1 ada", server.port)
      try await Self.expect(401, "k2 ada", server.port)
      set.withLock { $0 = PublishedIssuer.set("k2") }
      try server.reload(access: access())
      try await Self.expect(401, "k1 ada", server.port)
      try await Self.expect(200, "k2 ada", server.port)
    }
  }

  private struct NoFile: Error, CustomStringConvertible {
    let description = "set.json cannot be read"
  }

  @Test(arguments: [
    (#""keysFile":"set.json""#, "has a key set in a file that cannot be used (set.json cannot be read)"),
    (#""keysFile":"set.json","jwks":"https://a.example/keys""#, #"has both "keysFile" and "jwks""#),
    (#""keysFile":"set.json","keys":{}"#, #"has both "keys" and "keysFile""#),
    (#""keysFile":3"#, #"needs "keysFile" as text"#),
  ])
  func `a key set in a file that cannot be used is refused with the reason`(members: String, reason: String) {
    let text = #"{"tokens":[{"issuer":"https://i.example","audience":"board",\#(members)}]}"#
    let error = #expect(throws: AccessFile.Malformed.self) { try AccessFile(text, reading: { _ in throw NoFile() }) }
    #expect(error?.description.contains("tokens[0] \(reason)") == true, "\(String(describing: error))")
  }

  @Test func `without a way to read files a key set in one is refused`() {
    let text = #"{"tokens":[{"issuer":"https://i.example","audience":"board","keysFile":"set.json"}]}"#
    let error = #expect(throws: AccessFile.Malformed.self) { try AccessFile(text) }
    #expect(error?.description.contains("names the file set.json, which nothing reads here") == true)
  }
}
