import MartletTestSupport
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// The example frames of RFC 6455 section 5.7.
@Suite struct WebSocketFrameTests {
  @Test func `an unmasked text message reads and writes as in the RFC`() {
    let bytes: [UInt8] = [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
    var client = WebSocketEnd.client()
    client.receive(bytes)
    #expect(client.events == [.text(text("Hello"))])
    var server = WebSocketEnd()
    server.machine.send(text: text("Hello"), to: &server.output)
    #expect(server.output == bytes)
  }

  @Test func `a masked text message reads and writes as in the RFC`() {
    let bytes: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
    var server = WebSocketEnd()
    server.receive(bytes)
    #expect(server.events == [.text(text("Hello"))])
    var output: [UInt8] = []
    WebSocketFrame.append(.text, text("Hello"), mask: 0x3D21_FA37, to: &output)
    #expect(output == bytes)
  }

  @Test func `a fragmented message is put together`() {
    var client = WebSocketEnd.client()
    client.receive([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F])
    #expect(client.events == [.text(text("Hello"))])
  }

  @Test func `a ping is answered with its payload`() {
    var server = WebSocketEnd()
    server.receive([0x89, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
    #expect(server.events == [.ping(text("Hello"))])
    #expect(server.output == [0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
  }

  @Test(arguments: [0, 1, 125, 126, 127, 128, 65_535, 65_536, 70_000])
  func `every length form passes both ways, masked or not`(count: Int) {
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var server = WebSocketEnd()
    var client = WebSocketEnd.client()
    client.machine.send(binary: payload, to: &client.output)
    server.receive(client.takeOutput())
    #expect(server.events == [.binary(payload)])
    server.machine.send(binary: payload, to: &server.output)
    let head = count < 126 ? 2 : count <= 65_535 ? 4 : 10
    #expect(server.output.count == head + count)
    client.receive(server.takeOutput())
    #expect(client.events == [.binary(payload)])
  }

  @Test func `a frame of three pieces equals the frame of their sum`() {
    for count in [0, 10, 100, 130, 70_000] {
      let payload = [UInt8](repeating: 0x78, count: count)
      var pieces: [UInt8] = [1, 2]
      WebSocketFrame.appendText(prefix: text("{\"a\":"), payload: payload, suffix: text("}"), to: &pieces)
      var whole: [UInt8] = [1, 2]
      WebSocketFrame.append(.text, text("{\"a\":") + payload + text("}"), to: &whole)
      #expect(pieces == whole)
    }
  }

  @Test func `a spliced compressed frame expands to the sum of its pieces`() {
    let middle = text("shared")
    var deflated: [UInt8] = []
    StoredBlocks().compress(middle, into: &deflated)
    var client = WebSocketEnd.client(compression: StoredBlocks())
    var output: [UInt8] = []
    WebSocketFrame.appendCompressedText(prefix: text("<"), deflated: deflated, suffix: text(">"), to: &output)
    client.receive(output)
    #expect(client.events == [.text(text("<shared>"))])
  }
}
