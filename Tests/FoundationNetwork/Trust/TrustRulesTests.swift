import Foundation
import MartletFoundationNetwork
import MartletGraphQLClient
import MartletWire
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What is decided about a server's certificate. What the system finds about one cannot be had on Linux, whose
/// Foundation shows no certificates: it is an argument here.
@Suite struct TrustRulesTests {
  private static func pin(_ text: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: text))) }

  @Test(arguments: [(Certificates.elliptic, Certificates.ellipticKey), (Certificates.rsa, Certificates.rsaKey)])
  func `the digest of a certificate's public key is the one that openssl prints`(pem: String, digest: String) throws {
    let certificate = try #require(Certificate.all(inPEM: pem).first)
    let key = try #require(Certificate.publicKeyInfo(in: certificate))
    #expect(Data(SHA256.digest(key)).base64EncodedString() == digest)
  }

  @Test func `every certificate of a file is read, in order, and text around them is not`() {
    let text = "# authorities\n\(Certificates.rsa)\nbetween\n\(Certificates.elliptic)\n"
    let all = Certificate.all(inPEM: text)
    #expect(all.count == 2 && all == [Certificates.rsa, Certificates.elliptic].flatMap { Certificate.all(inPEM: $0) })
    #expect(Certificate.all(inPEM: "-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----").isEmpty)
    #expect(Certificate.all(inPEM: "-----BEGIN CERTIFICATE-----\nAAAA").isEmpty)
  }

  @Test func `bytes that are not a certificate have no key, wherever they end and whatever a length says`() throws {
    let whole = try #require(Certificate.all(inPEM: Certificates.elliptic).first)
    let key = try #require(Certificate.publicKeyInfo(in: whole))
    for count in 0..<whole.count { #expect(Certificate.publicKeyInfo(in: Array(whole.prefix(count))) == nil) }
    // A changed byte leaves the same key, another one, or none, and stops nothing.
    for index in whole.indices {
      for byte in [0x00, 0x7F, 0x80, 0x84, 0xFF] as [UInt8] {
        var changed = whole
        changed[index] = byte
        if let other = Certificate.publicKeyInfo(in: changed) { #expect(other.count <= whole.count) }
      }
    }
    #expect(key.count == 91)
  }

  @Test func `a server is trusted when the system trusts it and its key is pinned, in every combination`() throws {
    typealias Rules = TrustRules
    let leaf = try #require(Certificate.all(inPEM: Certificates.elliptic).first)
    let authority = try #require(Certificate.all(inPEM: Certificates.rsa).first)
    let (own, other) = (try Self.pin(Certificates.ellipticKey), try Self.pin(Certificates.rsaKey))
    let fine = Rules.Finding.trusted(leaf: leaf)
    let table: [(rules: Rules, subject: Rules.Subject, finding: Rules.Finding?, decision: Rules.Decision)] = [
      // Without rules everything is left, also what the system does not trust.
      (Rules(), .server, nil, .leave), (Rules(), .server, fine, .leave),
      (Rules(), .server, .untrusted("expired"), .leave), (Rules(), .credential, nil, .leave),
      // Rules are about servers.
      (Rules(authorities: [authority], pins: [other]), .credential, nil, .leave),
      // Pins.
      (Rules(pins: [own]), .server, fine, .accept), (Rules(pins: [other, own]), .server, fine, .accept),
      (Rules(pins: [other]), .server, fine, .refuse("the server's public key is not a pinned one")),
      (
        Rules(pins: [own]), .server, .untrusted("expired"),
        .refuse("the server's certificate is not trusted: expired")
      ),
      (Rules(pins: [own]), .server, nil, .refuse("the system shows no certificate of the server")),
      (
        Rules(pins: [own]), .server, .trusted(leaf: [0x30, 0x03]),
        .refuse("the server's certificate cannot be read")
      ),
      // Authorities.
      (Rules(authorities: [authority]), .server, fine, .accept),
      (
        Rules(authorities: [authority]), .server, .untrusted("not one of them"),
        .refuse("the server's certificate is not trusted: not one of them")
      ),
      (Rules(authorities: [authority], pins: [own]), .server, fine, .accept),
      (
        Rules(authorities: [authority], pins: [other]), .server, fine,
        .refuse("the server's public key is not a pinned one")
      ),
    ]
    for row in table { #expect(row.rules.decision(on: row.subject, row.finding) == row.decision, "\(row)") }
  }

  @Test func `a configuration becomes rules where the system shows certificates, and is refused elsewhere`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    try Certificates.rsa.write(to: file, atomically: true, encoding: .utf8)
    var configuration = ConnectionConfiguration()
    #expect(try TrustRules(configuration, areAvailable: true).isEmpty)
    configuration.authorityFile = file.path
    configuration.pinnedPublicKeys = [Certificates.ellipticKey]
    let rules = try TrustRules(configuration, areAvailable: true)
    #expect(rules.authorities == Certificate.all(inPEM: Certificates.rsa))
    #expect(rules.pins == [try Self.pin(Certificates.ellipticKey)])
    let error = #expect(throws: GraphQLClientError.self) { try TrustRules(configuration, areAvailable: false) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("authorityFile, pinnedPublicKeys") == true)
  }

  @Test func `a file without certificates and a client's certificate are refused before anything is sent`()
    throws
  {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    try "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n"
      .write(to: file, atomically: true, encoding: .utf8)
    for configure in [
      { $0.authorityFile = file.path }, { $0.certificateFile = file.path },
      { $0.pinnedPublicKeys = ["AAAA"] },
    ] as [(inout ConnectionConfiguration) -> Void] {
      var configuration = ConnectionConfiguration()
      configure(&configuration)
      let error = #expect(throws: GraphQLClientError.self) { try TrustRules(configuration, areAvailable: true) }
      #expect(error?.code == .invalidRequest)
    }
  }

  @Test func `a proxy becomes a session's where sessions use theirs, and is refused elsewhere`() throws {
    var configuration = ConnectionConfiguration()
    configuration.proxy = "http://proxy.example:3128"
    #expect(try TrustRules(configuration, proxies: true).isEmpty)
    let sessions = try URLSessionConfiguration.martlet.with(configuration)
    let dictionary = try #require(sessions.connectionProxyDictionary)
    for scheme in ["HTTP", "HTTPS"] {
      #expect(dictionary[scheme + "Enable"] as? Int == 1)
      #expect(dictionary[scheme + "Proxy"] as? String == "proxy.example")
      #expect(dictionary[scheme + "Port"] as? Int == 3128)
    }
    #expect(try SystemProxy("http://proxy.example").port == 1080, "the default is libcurl's")
    let refused = #expect(throws: GraphQLClientError.self) { try TrustRules(configuration, proxies: false) }
    #expect(refused?.code == .invalidRequest && refused?.message.contains("proxy") == true)
    for proxy in ["https://proxy.example", "http://user:pass@proxy.example", "socks5://proxy.example", "proxy.example"]
    {
      configuration.proxy = proxy
      let error = #expect(throws: GraphQLClientError.self) { try TrustRules(configuration, proxies: true) }
      #expect(error?.code == .invalidRequest, "\(proxy)")
    }
  }
}
