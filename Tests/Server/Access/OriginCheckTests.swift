import MartletServer
import Testing

/// How `Host` and `Origin` are read: strictly, because whatever passes for loopback may use a development server.
@Suite(.timeLimit(.minutes(1))) struct OriginCheckTests {
  private static let development = OriginCheck(.loopbackOnly)

  @Test(arguments: [
    "localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:1", "127.255.0.9:65535", "[::1]", "[::1]:8080",
  ]) func `names of the loopback network pass, with and without a port`(host: String) {
    #expect(Self.development.refusal(host: host, origin: nil, peerIsLoopback: true) == nil)
    #expect(Self.development.refusal(host: host, origin: "http://\(host)", peerIsLoopback: true) == nil)
  }

  @Test(arguments: [
    "127.+0.0.1", "127.0.0.+1", "127.-0.0.1", "127.00.0.1", "127.0.0.01", "127.0.0", "127.0.0.256", "127.0.0.1.",
    "127.0.0.1.evil.example", "127.0.0.1:", "127.0.0.1:+80", "127.0.0.1:65536", "127.0.0.1:80:80", "127.0.0.1 ",
    "127.0.0.1:080", "127.0.0.1:0", "127.0.0.1:000080", "localhost:-1", "localhost.", "evil@localhost", "localhost/",
    "[::1", "[::1]80", "[::1%lo]", "[::2]", "[]", "",
    ":80",
    "127.0.0.\u{661}", "\u{FF4C}ocalhost", "0.0.0.0", "128.0.0.1",
  ]) func `everything else is refused, as host and as origin`(host: String) {
    #expect(Self.development.refusal(host: host, origin: nil, peerIsLoopback: true) == .host)
    #expect(
      Self.development.refusal(host: "localhost", origin: "http://\(host)", peerIsLoopback: true) == .origin)
  }

  @Test(arguments: [
    "null", "localhost", "//localhost", "://localhost", "1http://localhost", "http:/localhost", "http:localhost",
    "http ://localhost", "http://localhost/", "http://localhost?x", "http://user@localhost", "x://y://localhost",
  ]) func `an origin is a scheme, a host and perhaps a port, and nothing else`(origin: String) {
    #expect(Self.development.refusal(host: "localhost", origin: origin, peerIsLoopback: true) == .origin)
  }

  @Test(arguments: [
    (#"{"keys":[],"origins":null}"#, "keys"), (#"[]"#, "object"),
    (#"{"keys":[{"name":"a","sha256":"00"}]}"#, "sha256"), ("{", "JSON"),
  ]) func `an access file that cannot be used names what is wrong`(text: String, word: String) {
    let error = #expect(throws: AccessFile.Malformed.self) { try AccessFile(text) }
    #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: ["board.example", "https://board.example/", "https://a b", "https://", "null", "https://x:y"])
  func `an access file with an origin that no browser sends is refused`(origin: String) {
    let error = #expect(throws: AccessFile.Malformed.self) { try Served.access("k", origins: #"["\#(origin)"]"#) }
    #expect(error?.description.contains(origin) == true)
  }

  @Test func `an access file with a member that means nothing is refused by its name`() throws {
    let entry = #"{"name":"a","sha256":"\#(String(repeating: "00", count: 32))"}"#
    #expect(throws: Never.self) { try AccessFile(#"{"keys":[\#(entry)]}"#) }
    let error = #expect(throws: AccessFile.Malformed.self) {
      try AccessFile(#"{"keys":[\#(entry)],"orgins":["https://board.example"]}"#)
    }
    #expect(error?.description.contains("orgins") == true)
  }
}

/// Proxies in front of a development server.
@Suite(.timeLimit(.minutes(1))) struct ForwardedRequestTests {
  @Test(arguments: ["Forwarded", "Via", "X-Forwarded-For", "x-forwarded-host", "X-Real-IP"])
  func `a development server refuses what a proxy forwards, and a server with keys does not`(field: String) async throws
  {
    let schema = "type Note @model { id: ID! }"
    try await Served.with(schema) { server in
      let answer = try await HTTPRequest.graphql("{ __typename }", port: server.port, headers: [(field, "1.1 p")])
      #expect(answer.status == 403 && answer.text.contains("proxy"))
    }
    let access = try Served.access("secret")
    try await Served.with(schema, { $0.access = .keys(access) }) { server in
      let answer = try await HTTPRequest.graphql(
        "{ __typename }", port: server.port, headers: [(field, "1.1 p"), ("x-api-key", "secret")])
      #expect(answer.status == 200)
    }
  }
}
