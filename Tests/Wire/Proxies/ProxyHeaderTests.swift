import MartletVocabulary
import MartletWire
import Testing

/// The header of the PROXY protocol, version 2.
@Suite struct ProxyHeaderTests {
  private static let signature: [UInt8] = Array("\r\n\r\n\0\r\nQUIT\n".utf8)

  private static func header(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
    signature + [0x20 | command, family, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
  }

  private static let client4 = header(1, 0x11, [192, 0, 2, 1, 10, 0, 0, 1, 0x30, 0x39, 0x01, 0xBB])
  private static let client6 = header(
    1, 0x21,
    [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [9] + [UInt8](repeating: 1, count: 16)
      + [0, 80, 0, 81])

  @Test func `clients, the proxy itself and unknown families are read, whole and byte by byte`() throws {
    let four = try #require(IPAddress("192.0.2.1"))
    let six = try #require(IPAddress("2001:db8::9"))
    let extensions: [UInt8] = [0x04, 0x00, 0x02, 0xAA, 0xBB]
    let cases: [([UInt8], ProxyHeaderReader.Header)] = [
      (Self.client4, .client(four, port: 12_345)), (Self.client6, .client(six, port: 80)),
      (
        Self.header(1, 0x11, [192, 0, 2, 1, 10, 0, 0, 1, 0x30, 0x39, 0x01, 0xBB] + extensions),
        .client(four, port: 12_345)
      ),
      (Self.header(0, 0x00, []), .local), (Self.header(0, 0x11, [UInt8](repeating: 7, count: 12)), .local),
      (Self.header(1, 0x00, []), .unknown), (Self.header(1, 0x31, [UInt8](repeating: 7, count: 216)), .unknown),
    ]
    for (bytes, expected) in cases {
      var whole = ProxyHeaderReader()
      #expect(try whole.receive(bytes + [1, 2, 3]) == .done(expected, rest: [1, 2, 3]))
      var reader = ProxyHeaderReader()
      for byte in bytes.dropLast() { #expect(try reader.receive([byte]) == .needsMore) }
      #expect(try reader.receive(bytes.suffix(1)) == .done(expected, rest: []))
    }
  }

  @Test func `other bytes are refused at the first one that differs`() {
    func failure(_ bytes: [UInt8]) -> ProxyHeaderReader.Failure? {
      var reader = ProxyHeaderReader()
      do { _ = try reader.receive(bytes) } catch { return error }
      return nil
    }
    #expect(failure(Array("G".utf8)) == .notPROXY)
    #expect(failure(Array("PROXY TCP4".utf8)) == .notPROXY)
    #expect(failure(Self.signature + [0x11]) == .version(1))
    #expect(failure(Self.signature + [0x22]) == .command(2))
    #expect(failure(Self.header(1, 0x11, [192, 0, 2])) == .truncated)
    #expect(failure(Self.header(1, 0x21, [UInt8](repeating: 0, count: 35))) == .truncated)
    #expect(failure(Self.signature + [0x21, 0x11, 0xFF, 0xFF]) == .tooLong(16 + 65_535))
    #expect(failure(Self.signature + [0x21, 0x11, 0x00, 0x0C]) == nil)
  }

  @Test func `random bytes end in a header or a failure, and cuts change nothing`() {
    for seed in 0..<2_000 as Range<UInt64> {
      var chance = SeededRandom(seed: seed)
      var bytes = seed % 3 == 0 ? Self.client4 : Self.signature + (0..<40).map { _ in UInt8(chance.next() & 0xFF) }
      if seed % 3 == 1, bytes.count > 15 { (bytes[12], bytes[13], bytes[14]) = (0x21, [0x11, 0x21][Int(seed % 2)], 0) }
      if seed % 5 == 0 { bytes[Int(chance.next() % UInt64(bytes.count))] ^= UInt8(1 << (chance.next() % 8)) }
      func read(_ pieces: [[UInt8]]) -> String {
        var reader = ProxyHeaderReader()
        var rest: [UInt8] = []
        var found: ProxyHeaderReader.Header?
        for piece in pieces {
          if found != nil {
            rest += piece
            continue
          }
          do {
            if case .done(let header, let behind) = try reader.receive(piece) { (found, rest) = (header, behind) }
          } catch { return "\(error)" }
        }
        return found.map { "\($0) \(rest)" } ?? "more"
      }
      #expect(read([bytes]) == read(bytes.map { [$0] }), "seed \(seed)")
    }
  }
}
