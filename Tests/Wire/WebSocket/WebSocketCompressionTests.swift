import MartletTestSupport
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

@Suite struct WebSocketCompressionTests {
  @Test func `the stored block of RFC 7692 section 7_2_3_3 reads as Hello`() {
    // A frame with RSV1 whose block is stored: 00 05 00 FA FF "Hello" 00.
    var client = WebSocketEnd.client(compression: StoredBlocks())
    client.receive([0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00])
    #expect(client.events == [.text(text("Hello"))])
  }

  @Test(arguments: [false, true])
  func `compressed messages pass both ways in any chunking`(byteByByte: Bool) {
    var limits = WebSocketLimits()
    limits.compressionThreshold = 0
    var client = WebSocketEnd.client(limits: limits, compression: StoredBlocks())
    var server = WebSocketEnd(limits: limits, compression: StoredBlocks())
    for message in ["", "short", String(repeating: "é", count: 40_000)] {
      client.machine.send(text: text(message), to: &client.output)
      #expect(client.output[0] == 0xC1)
      server.receive(client.takeOutput(), byteByByte: byteByByte)
      #expect(server.events.popLast() == .text(text(message)))
    }
  }

  @Test func `a compressed message may come in fragments with RSV1 on the first only`() {
    var server = WebSocketEnd(compression: StoredBlocks())
    let block: [UInt8] = [0x00, 0x02, 0x00, 0xFD, 0xFF, 0x68, 0x69, 0x00]
    server.receive(
      masked(1, Array(block[..<3]), final: false, reserved: 0x40) + masked(9) + masked(0, Array(block[3...])))
    #expect(server.events == [.ping([]), .text(text("hi"))])
    server.receive(masked(1, block, final: false, reserved: 0x40) + masked(0, [], reserved: 0x40))
    #expect(server.failure == .compressedContinuation)
  }

  @Test func `a plain message is allowed where compression was agreed`() {
    var server = WebSocketEnd(compression: StoredBlocks())
    server.receive(masked(1, text("plain")))
    #expect(server.events == [.text(text("plain"))])
  }

  @Test func `small messages go uncompressed`() {
    var server = WebSocketEnd(compression: StoredBlocks())
    server.machine.send(text: text("small"), to: &server.output)
    #expect(server.output[0] == 0x81)
  }

  @Test func `the size limit holds for what comes out`() {
    var limits = WebSocketLimits()
    limits.messageBytes = 3
    var server = WebSocketEnd(limits: limits, compression: StoredBlocks())
    server.receive(masked(1, [0x00, 0x04, 0x00, 0xFB, 0xFF, 0x68, 0x69, 0x68, 0x69, 0x00], reserved: 0x40))
    #expect(server.sentCloseCode == 1009)
  }

  @Test func `endless empty blocks run into the limit`() {
    var limits = WebSocketLimits()
    limits.messageBytes = 100
    var server = WebSocketEnd(limits: limits, compression: StoredBlocks())
    let nothing: [UInt8] = [0x00, 0x00, 0x00, 0xFF, 0xFF]
    server.receive(masked(1, nothing, final: false, reserved: 0x40))
    for _ in 0..<500 where server.failure == nil { server.receive(masked(0, nothing, final: false)) }
    #expect(server.failure == .messageTooLarge)
  }

  @Test func `broken compression closes with 1007`() {
    var server = WebSocketEnd(compression: StoredBlocks())
    server.receive(masked(1, [0xFF, 1, 2, 3, 4, 5], reserved: 0x40))
    #expect(server.failure == .invalidCompression)
    #expect(server.sentCloseCode == 1007)
  }

  @Test func `text is checked as it comes out`() {
    var server = WebSocketEnd(compression: StoredBlocks())
    server.receive(masked(1, [0x00, 0x01, 0x00, 0xFE, 0xFF, 0xFF], final: false, reserved: 0x40))
    #expect(server.failure == .invalidText)
  }
}
