import MartletVocabulary
import MartletWire
import Testing

@testable import MartletSockets

@Suite struct ZlibTests {
  /// Takes the block a sync flush ends with off, as the machine does, and back on.
  func roundTrip(
    _ message: [UInt8], from sender: ZlibCompression, to receiver: ZlibCompression, pieces: Int = 1
  ) -> [UInt8]? {
    var wire: [UInt8] = []
    sender.compress(message, into: &wire)
    #expect(wire.suffix(4) == [0, 0, 0xFF, 0xFF])
    wire.removeLast(4)
    var output: [UInt8] = []
    let size = max(1, wire.count / pieces)
    for start in stride(from: 0, to: wire.count, by: size) {
      let piece = Array(wire[start..<min(start + size, wire.count)])
      guard receiver.decompress(piece, endsMessage: false, limit: 1 << 24, into: &output) == .done else { return nil }
    }
    guard receiver.decompress([0, 0, 0xFF, 0xFF], endsMessage: true, limit: 1 << 24, into: &output) == .done
    else { return nil }
    return output
  }

  static let combinations: [WebSocketDeflate] = [9, 12, 15].flatMap { bits in
    [false, true].map { forgets in
      WebSocketDeflate(
        serverNoContextTakeover: forgets, clientNoContextTakeover: forgets, serverMaxWindowBits: bits,
        clientMaxWindowBits: bits)
    }
  }

  @Test(arguments: combinations)
  func `messages of all sizes survive, whole and in pieces, with every window`(agreed: WebSocketDeflate) {
    let pool = ZlibPool()
    let server = ZlibCompression(agreed, isServer: true, pool: pool)
    let client = ZlibCompression(agreed, isServer: false, pool: pool)
    var random = SeededRandom(seed: 11)
    for size in [1, 2, 125, 4096, 16_384, 70_000] {
      let text = (0..<size).map { UInt8(truncatingIfNeeded: 97 + $0 % 17) }
      let noise = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
      for message in [text, noise] {
        #expect(roundTrip(message, from: server, to: client, pieces: 7) == message)
        #expect(roundTrip(message, from: client, to: server) == message)
      }
    }
  }

  @Test func `without context takeover many connections share two streams`() {
    let pool = ZlibPool()
    let agreed = WebSocketDeflate(serverNoContextTakeover: true, clientNoContextTakeover: true)
    for number in 0..<100 {
      let server = ZlibCompression(agreed, isServer: true, pool: pool)
      let client = ZlibCompression(agreed, isServer: false, pool: pool)
      let message = Array("message \(number) message \(number)".utf8)
      #expect(roundTrip(message, from: server, to: client) == message)
    }
    #expect(pool.made == 2)
  }

  @Test func `what grows past the limit stops at it`() {
    let pool = ZlibPool()
    let agreed = WebSocketDeflate()
    let server = ZlibCompression(agreed, isServer: true, pool: pool)
    let client = ZlibCompression(agreed, isServer: false, pool: pool)
    var wire: [UInt8] = []
    client.compress([UInt8](repeating: 0, count: 10_000_000), into: &wire)
    #expect(wire.count < 60_000)
    var output: [UInt8] = []
    #expect(server.decompress(wire, endsMessage: true, limit: 1_000_000, into: &output) == .tooLarge)
    #expect(output.count <= 1_000_000)
  }

  @Test func `garbage is malformed and never more`() {
    var random = SeededRandom(seed: 3)
    for _ in 0..<500 {
      let pool = ZlibPool()
      let server = ZlibCompression(WebSocketDeflate(), isServer: true, pool: pool)
      let garbage = (0..<Int.random(in: 1..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      var output: [UInt8] = []
      _ = server.decompress(garbage, endsMessage: true, limit: 100_000, into: &output)
      #expect(output.count <= 100_000)
    }
  }

  @Test func `a final block inside a message is not an end`() {
    // RFC 7692 section 7.2.3.4: "Hello" in a block with the final bit, then an empty stored block.
    let server = ZlibCompression(WebSocketDeflate(), isServer: true, pool: ZlibPool())
    for _ in 0..<2 {
      var output: [UInt8] = []
      let wire: [UInt8] = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]
      #expect(server.decompress(wire, endsMessage: false, limit: 100, into: &output) == .done)
      #expect(server.decompress([0, 0, 0xFF, 0xFF], endsMessage: true, limit: 100, into: &output) == .done)
      #expect(output == Array("Hello".utf8))
    }
  }
}
