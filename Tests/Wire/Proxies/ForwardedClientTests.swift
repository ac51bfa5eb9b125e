import MartletWire
import Testing

/// Clients as proxies name them.
@Suite struct ForwardedClientTests {
  private static func find(_ fields: [(String, String)], peer: String = "10.0.0.1") throws -> String {
    let client = try ForwardedClient.find(
      HTTPHeaders(fields), peer: try #require(IPAddress(peer)),
      trusted: [try AddressRange("10.0.0.0/8"), try AddressRange("::1")])
    let scheme = client.isSecure.map { $0 ? " https" : " http" } ?? ""
    return client.address.description + scheme + (client.host.map { " \($0)" } ?? "")
  }

  @Test(arguments: [
    ([("X-Forwarded-For", "192.0.2.1")], "192.0.2.1"),
    ([("X-Forwarded-For", "192.0.2.1, 10.0.0.2")], "192.0.2.1"),
    ([("X-Forwarded-For", "1.1.1.1, 192.0.2.1, 10.0.0.2")], "192.0.2.1"),
    ([("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "192.0.2.1")], "192.0.2.1"),
    ([("X-Forwarded-For", "192.0.2.1:1234"), ("X-Forwarded-Proto", "https")], "192.0.2.1 https"),
    ([("X-Forwarded-For", "2001:db8::1"), ("X-Forwarded-Host", "a.example")], "2001:db8::1 a.example"),
    ([("X-Forwarded-For", "unknown")], "10.0.0.1"), ([("X-Forwarded-For", "1.1.1.1, unknown, 10.0.0.2")], "10.0.0.2"),
    ([("Forwarded", "for=192.0.2.1")], "192.0.2.1"),
    (
      [("Forwarded", #"for="[2001:db8::1]:4711";proto=https;by=10.0.0.1;host="a.example""#)],
      "2001:db8::1 https a.example"
    ),
    ([("Forwarded", "for=1.1.1.1, FOR=192.0.2.1 ; Proto=HTTP,for=10.0.0.2")], "192.0.2.1 http"),
    ([("Forwarded", "for=_hidden, for=10.0.0.2")], "10.0.0.2"), ([("Forwarded", "for=unknown")], "10.0.0.1"),
    ([("Forwarded", "for=192.0.2.1"), ("X-Forwarded-For", "192.0.2.1")], "192.0.2.1"),
    ([("Forwarded", "proto=https")], "10.0.0.1 https"), ([("Via", "1.1 a")], "10.0.0.1"), ([], "10.0.0.1"),
  ])
  func `the client is the nearest address that is not a trusted proxy`(fields: [(String, String)], client: String)
    throws
  {
    #expect(try Self.find(fields) == client)
  }

  @Test func `a peer that is not a trusted proxy names no other client than itself`() throws {
    let fields = [("X-Forwarded-For", "10.0.0.9"), ("Forwarded", "for=garbage;;"), ("X-Forwarded-Proto", "x")]
    #expect(try Self.find(fields, peer: "192.0.2.7") == "192.0.2.7")
    #expect(try Self.find(fields, peer: "::2") == "::2")
  }

  @Test(arguments: [
    [("X-Forwarded-For", "a")], [("X-Forwarded-For", "")], [("X-Forwarded-For", "1.1.1.1,,2.2.2.2")],
    [("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-Proto", "gopher")], [("Forwarded", "for")], [("Forwarded", "for=")],
    [("Forwarded", #"for="1.1.1.1"#)], [("Forwarded", #"for="1.1.1.1"x"#)], [("Forwarded", "for=1.1.1.1;for=2.2.2.2")],
    [("Forwarded", "=1")], [("Forwarded", "for=[::1")], [("Forwarded", "for=1.1.1.1;proto=x")],
  ])
  func `malformed fields of a trusted proxy are refused`(fields: [(String, String)]) {
    #expect(throws: ForwardedClient.Failure.self) { try Self.find(fields) }
  }

  @Test func `fields that contradict each other are refused, because one of them is the client's own`() {
    #expect(throws: ForwardedClient.Failure.contradiction) {
      try Self.find([("Forwarded", "for=1.1.1.1"), ("X-Forwarded-For", "192.0.2.1")])
    }
  }
}
