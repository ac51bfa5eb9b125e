import MartletServer
import Testing

/// Which endpoint serves a path.
@Suite(.timeLimit(.minutes(1))) struct EndpointTests {
  @Test func `a pattern matches its own path, or what stands between its beginning and its end`() throws {
    let fixed = try #require(PathPattern("/healthz"))
    #expect(fixed.match("/healthz") == "")
    for other in ["/healthz/", "/health", "/Healthz", "/healthz?x", ""] { #expect(fixed.match(other) == nil) }
    let open = try #require(PathPattern("/rooms/{path...}.json"))
    #expect(open.match("/rooms/kitchen/lamp.json") == "kitchen/lamp")
    for other in ["/rooms/.json", "/rooms/kitchen", "/room/kitchen.json", "/rooms.json"] {
      #expect(open.match(other) == nil, "\(other)")
    }
    // Composed and decomposed forms are different paths, as they are different bytes.
    let composed = try #require(PathPattern("/caf\u{E9}"))
    #expect(composed.match("/cafe\u{301}") == nil && composed.match("/caf\u{E9}") == "")
  }

  @Test(arguments: ["rooms", "", "/{a}", "/{a...}/{b...}", "/}a...{", "/{...}", "/a{"])
  func `what is not a pattern is refused`(text: String) {
    #expect(PathPattern(text) == nil)
  }

  @Test func `another path is answered with the paths that are served, another method with those of the path`()
    async throws
  {
    try await Served.with("type Note @model { id: ID! }") { server in
      let nowhere = try await HTTPRequest.send("GET", "/nowhere", port: server.port)
      #expect(nowhere.status == 404)
      for path in ["/graphql", "/graphql/stream", "/graphql/realtime", "/healthz", "/readyz", "/metrics"] {
        #expect(nowhere.text.contains(path), "\(path) in \(nowhere.text)")
      }
      let method = try await HTTPRequest.send("POST", "/metrics", port: server.port, body: "")
      #expect(method.status == 405 && method.head.contains("\r\nAllow: GET\r\n"))
      let upgrade = try await HTTPRequest.send(
        "POST", "/graphql", port: server.port, headers: [("Upgrade", "websocket"), ("Connection", "Upgrade")], body: "")
      #expect(upgrade.status == 405 && upgrade.head.contains("\r\nAllow: GET\r\n"))
    }
  }
}
