import MartletRuntime
import Testing

@testable import MartletLoop
@testable import MartletSockets

/// Which suites of TLS 1.2 are served, asked by handshakes that offer one suite each.
@Suite struct CipherSuiteTests {
  /// The codes of suites by their names (RFC 5246 and others).
  static let refused: [(name: String, code: UInt16)] = [
    ("RSA_WITH_AES_128_CBC_SHA", 0x002F), ("RSA_WITH_AES_256_CBC_SHA256", 0x003D),
    ("RSA_WITH_AES_128_GCM_SHA256", 0x009C), ("RSA_WITH_AES_256_GCM_SHA384", 0x009D),
    ("RSA_WITH_AES_128_CCM", 0xC09C), ("RSA_WITH_3DES_EDE_CBC_SHA", 0x000A),
    ("DHE_RSA_WITH_AES_128_CBC_SHA", 0x0033), ("ECDHE_RSA_WITH_AES_128_CBC_SHA", 0xC013),
    ("ECDHE_RSA_WITH_AES_256_CBC_SHA", 0xC014), ("ECDHE_RSA_WITH_AES_128_CBC_SHA256", 0xC027),
    ("ECDHE_RSA_WITH_AES_256_CBC_SHA384", 0xC028), ("ECDHE_ECDSA_WITH_AES_128_CBC_SHA", 0xC009),
    ("ECDHE_ECDSA_WITH_AES_256_CBC_SHA", 0xC00A), ("ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", 0xC023),
    ("ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", 0xC024), ("ECDH_anon_WITH_AES_128_CBC_SHA", 0xC018),
    ("PSK_WITH_AES_128_GCM_SHA256", 0x00A8),
  ]

  /// Suites with ephemeral keys and authenticated encryption, for a certificate of either kind.
  static let served: [(rsa: UInt16, ecdsa: UInt16)] = [(0xC02F, 0xC02B), (0xC030, 0xC02C), (0xCCA8, 0xCCA9)]

  @Test(arguments: [false, true])
  func `TLS 1.2 is served with ephemeral keys and authenticated encryption, and refused otherwise`(
    isRSA: Bool
  ) async throws {
    try await withLoop { loop in
      let fixture = try TLSTests.Fixture(on: loop)
      defer { fixture.certificates.remove() }
      if isRSA {
        try fixture.certificates.issue(serial: 3, isRSA: true)
        try fixture.context.reload()
      }
      for suite in Self.refused {
        let answer = try await Self.answer(to: [suite.code], fixture)
        // An alert, `handshake_failure`.
        #expect(answer.first == 0x15 && answer.last == 40, "\(suite.name): \(answer)")
      }
      for suite in Self.served {
        let answer = try await Self.answer(to: [0xC013, 0xC009, 0x002F, isRSA ? suite.rsa : suite.ecdsa], fixture)
        // A handshake record, and in it `server_hello`.
        #expect(answer.first == 0x16 && answer[5] == 0x02, "\(suite): \(answer)")
      }
    }
  }

  /// The first bytes that the server sends to a client of TLS 1.2 that offers some suites.
  private static func answer(to suites: [UInt16], _ fixture: TLSTests.Fixture) async throws -> [UInt8] {
    let peer = Peer()
    try await connect(peer, to: fixture.listener.port, on: fixture.loop)
    await on(fixture.loop) { peer.channel?.write { $0.append(Self.hello(suites)) } }
    let answer = await peer.bytes(7)
    await on(fixture.loop) { peer.channel?.abort() }
    return Array(answer.prefix(7))
  }

  /// A `client_hello` of TLS 1.2 (RFC 5246, section 7.4.1.2) with the extensions that elliptic curves need.
  private static func hello(_ suites: [UInt16]) -> [UInt8] {
    func two(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
    func sized(_ bytes: [UInt8]) -> [UInt8] { two(bytes.count) + bytes }
    let groups = sized(sized([0x00, 0x1D, 0x00, 0x17, 0x00, 0x18]))
    let formats = sized([1, 0])
    // ECDSA and RSA with SHA-256, -384 and -512; RSA-PSS.
    let algorithms = sized(sized([4, 3, 5, 3, 6, 3, 4, 1, 5, 1, 6, 1, 8, 4, 8, 5, 8, 6]))
    let extensions = [0x00, 0x0A] + groups + [0x00, 0x0B] + formats + [0x00, 0x0D] + algorithms
    var body: [UInt8] = [3, 3] + (0..<32).map { UInt8($0) } + [0]
    body += sized(suites.flatMap { two(Int($0)) }) + [1, 0] + sized(extensions)
    let message: [UInt8] = [1, 0] + sized(body)
    return [0x16, 3, 1] + sized(message)
  }
}
