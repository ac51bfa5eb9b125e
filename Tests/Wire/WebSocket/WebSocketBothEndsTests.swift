import MartletTestSupport
import MartletVocabulary
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct WebSocketBothEndsTests {
  /// Something of everything a peer may send, as one stream.
  private static func session() -> [UInt8] {
    var client = WebSocketEnd.client()
    client.machine.send(text: text("first é"), to: &client.output)
    client.machine.ping(text("are you there"), to: &client.output)
    client.machine.send(binary: [UInt8](repeating: 9, count: 300), to: &client.output)
    WebSocketFrame.append(.text, text("in "), final: false, mask: 5, to: &client.output)
    WebSocketFrame.append(.continuation, text("parts"), mask: 77, to: &client.output)
    client.machine.close(1000, reason: "bye", at: .zero, output: &client.output)
    return client.output
  }

  @Test func `a session reads the same in every two-part cut and byte by byte`() {
    let bytes = Self.session()
    var whole = WebSocketEnd()
    whole.receive(bytes)
    #expect(whole.events.count == 6)
    var dribbled = WebSocketEnd()
    dribbled.receive(bytes, byteByByte: true)
    #expect(dribbled.events == whole.events)
    #expect(dribbled.output == whole.output)
    for cut in 0...bytes.count {
      var server = WebSocketEnd()
      server.receive(Array(bytes[..<cut]))
      server.receive(Array(bytes[cut...]))
      #expect(server.events == whole.events)
      #expect(server.output == whole.output)
    }
  }

  @Test func `a session cut anywhere ends in exactly one closure`() {
    let bytes = Self.session()
    for cut in 0...bytes.count {
      var server = WebSocketEnd()
      server.receive(Array(bytes[..<cut]))
      server.machine.transportEnded(events: &server.events)
      let closures = server.events.filter { if case .closed = $0 { true } else { false } }
      #expect(closures.count == 1)
    }
  }

  @Test func `garbage ends in the peer's error and nothing else`() {
    var random = SeededRandom(seed: 20)
    let session = Self.session()
    for round in 0..<3000 {
      var bytes = session
      for _ in 0...(round % 4) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        }
      }
      var whole = WebSocketEnd(compression: round % 2 == 0 ? StoredBlocks() : nil)
      whole.receive(bytes)
      var dribbled = WebSocketEnd(compression: round % 2 == 0 ? StoredBlocks() : nil)
      dribbled.receive(bytes, byteByByte: true)
      #expect(whole.events == dribbled.events)
      #expect(whole.output == dribbled.output)
      let closures = whole.events.filter { if case .closed = $0 { true } else { false } }
      #expect(closures.count <= 1)
      if whole.machine.phase == .ended { #expect(whole.events.last == .closeTransport) }
    }
  }

  @Test func `masks differ from frame to frame`() {
    var client = WebSocketEnd.client()
    client.machine.send(text: text("same"), to: &client.output)
    let first = client.takeOutput()
    client.machine.send(text: text("same"), to: &client.output)
    #expect(first != client.output)
  }
}
