import MartletTestSupport
import MartletVocabulary
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// The rules the Autobahn suite walks, group by group.
@Suite struct WebSocketMachineTests {
  // MARK: Groups 2 and 5, pings and fragmentation

  @Test(arguments: [false, true])
  func `control frames are handled between fragments`(byteByByte: Bool) {
    var server = WebSocketEnd()
    let bytes =
      masked(1, text("frag"), final: false) + masked(9, text("p1")) + masked(0, text("men"), final: false)
      + masked(9, text("p2")) + masked(0, text("t"))
    server.receive(bytes, byteByByte: byteByByte)
    #expect(server.events == [.ping(text("p1")), .ping(text("p2")), .text(text("fragment"))])
    #expect(server.output == [0x8A, 2] + text("p1") + [0x8A, 2] + text("p2"))
  }

  @Test func `an unsolicited pong is only reported`() {
    var server = WebSocketEnd()
    server.receive(masked(10, text("x")))
    #expect(server.events == [.pong(text("x"))])
    #expect(server.output.isEmpty)
  }

  @Test func `empty messages and empty fragments count`() {
    var server = WebSocketEnd()
    server.receive(masked(1) + masked(1, [], final: false) + masked(0, [], final: false) + masked(0))
    #expect(server.events == [.text([]), .text([])])
  }

  @Test(
    arguments: [
      ("reserved bit 1", masked(1, [0x61], reserved: 0x40), .reservedBits),
      ("reserved bit 2", masked(1, [0x61], reserved: 0x20), .reservedBits),
      ("reserved bit 3", masked(1, [0x61], reserved: 0x10), .reservedBits),
      ("reserved bits on a ping", masked(9, [], reserved: 0x70), .reservedBits),
      ("opcode 3", masked(3), .reservedOpcode), ("opcode 4", masked(4), .reservedOpcode),
      ("opcode 7", masked(7), .reservedOpcode), ("opcode 11", masked(11), .reservedOpcode),
      ("opcode 15", masked(15), .reservedOpcode),
      ("ping in fragments", masked(9, [], final: false), .fragmentedControl),
      ("close in fragments", masked(8, [], final: false), .fragmentedControl),
      ("ping of 126 bytes", masked(9, [UInt8](repeating: 0, count: 126)), .longControl),
      ("close of 126 bytes", masked(8, [UInt8](repeating: 0, count: 126)), .longControl),
      ("continuation first", masked(0, [0x61]), .strayContinuation),
      ("continuation behind a whole message", masked(1) + masked(0), .strayContinuation),
      ("message inside a message", masked(1, [], final: false) + masked(1), .interruptedMessage),
      ("no mask", [0x81, 0x01, 0x61], .unmaskedFrame),
      ("length 5 in 16 bits", [0x81, 0xFE, 0x00, 0x05], .lengthNotMinimal),
      ("length 300 in 64 bits", [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 1, 44], .lengthNotMinimal),
      ("top bit of the length", [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], .lengthOverflow),
      ("close with one byte", masked(8, [0x03]), .closeTooShort),
    ] as [(String, [UInt8], WebSocketFailure.Rule)])
  func `a broken rule closes with 1002 and nothing follows`(
    name: String, bytes: [UInt8], rule: WebSocketFailure.Rule
  ) {
    for byteByByte in [false, true] {
      var server = WebSocketEnd()
      server.receive(bytes + masked(1, text("later")), byteByByte: byteByByte)
      #expect(server.failure == rule)
      #expect(server.sentCloseCode == 1002)
      #expect(server.events.last == .closeTransport)
      #expect(!server.events.contains(.text(text("later"))))
      #expect(server.machine.phase == .ended)
      #expect(server.machine.nextDeadline == nil)
    }
  }

  @Test func `a client refuses a masked frame`() {
    var client = WebSocketEnd.client()
    client.receive(masked(1, text("x")))
    #expect(client.failure == .maskedFrame)
  }

  // MARK: Group 6, UTF-8

  @Test(arguments: [false, true])
  func `valid text of every width passes in any fragmentation`(byteByByte: Bool) {
    let message = text("κόσμε é € 😀 \u{FFFF} \u{10FFFF}")
    for cut in 0...message.count {
      var server = WebSocketEnd()
      server.receive(
        masked(1, Array(message[..<cut]), final: false) + masked(0, Array(message[cut...])), byteByByte: byteByByte)
      #expect(server.events == [.text(message)])
    }
  }

  @Test func `wrong text fails while its frame is still arriving`() {
    var server = WebSocketEnd()
    let frame = masked(1, text("abc") + [0xFF] + text("more to come"))
    server.receive(Array(frame[..<10]))
    #expect(server.failure == .invalidText)
    #expect(server.sentCloseCode == 1007)
  }

  @Test func `wrong text fails in the fragment that makes it wrong`() {
    var server = WebSocketEnd()
    server.receive(masked(1, [0xCE, 0xBA, 0xF4], final: false))
    #expect(server.failure == nil)
    server.receive(masked(0, [0x90], final: false))
    #expect(server.failure == .invalidText)
  }

  @Test func `text that ends inside a character is refused at its end`() {
    var server = WebSocketEnd()
    server.receive(masked(1, [0x61, 0xE2, 0x82]))
    #expect(server.failure == .invalidText)
  }

  @Test func `binary messages may hold anything`() {
    var server = WebSocketEnd()
    server.receive(masked(2, [0xFF, 0xFE]))
    #expect(server.events == [.binary([0xFF, 0xFE])])
  }

  // MARK: Group 7, closing

  @Test(arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
  func `a valid close code is echoed`(code: UInt16) {
    var server = WebSocketEnd()
    server.receive(masked(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + text("why")))
    #expect(server.output == [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)])
    #expect(
      server.events == [
        .closed(WebSocketClosure(code: WebSocketCloseCode(rawValue: code), reason: "why")), .closeTransport,
      ])
  }

  @Test(arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
  func `a close code that may not be sent is a protocol error`(code: UInt16) {
    var server = WebSocketEnd()
    server.receive(masked(8, [UInt8(code >> 8), UInt8(code & 0xFF)]))
    #expect(server.failure == .closeCode)
    #expect(server.sentCloseCode == 1002)
  }

  @Test func `an empty close is answered with an empty close`() {
    var server = WebSocketEnd()
    server.receive(masked(8) + masked(9, text("too late")))
    #expect(server.output == [0x88, 0])
    #expect(server.events == [.closed(WebSocketClosure(code: .noStatus)), .closeTransport])
  }

  @Test func `a close reason must be UTF-8`() {
    var server = WebSocketEnd()
    server.receive(masked(8, [0x03, 0xE8, 0xCE, 0xBA, 0xFF]))
    #expect(server.sentCloseCode == 1007)
  }

  @Test func `a reason of 123 bytes passes and a longer one of ours is cut between characters`() {
    var server = WebSocketEnd()
    server.machine.close(1000, reason: String(repeating: "é", count: 100), at: .zero, output: &server.output)
    #expect(server.output[1] == 2 + 122)
    var client = WebSocketEnd.client()
    client.receive(server.output)
    #expect(client.events == [.closed(WebSocketClosure(code: 1000, reason: String(repeating: "é", count: 61)))])
  }

  @Test func `both ends close once, and the server ends the transport`() {
    var client = WebSocketEnd.client()
    var server = WebSocketEnd()
    client.machine.close(1000, reason: "done", at: .zero, output: &client.output)
    client.machine.close(1001, at: .zero, output: &client.output)
    client.machine.send(text: text("late"), to: &client.output)
    server.receive(client.takeOutput())
    client.receive(server.takeOutput())
    #expect(server.events == [.closed(WebSocketClosure(code: 1000, reason: "done")), .closeTransport])
    #expect(client.events == [.closed(WebSocketClosure(code: 1000))])
    #expect(client.machine.phase == .waitingForTransport(deadline: .zero + .seconds(5)))
    client.machine.transportEnded(events: &client.events)
    #expect(client.events.count == 1)
    #expect(client.machine.nextDeadline == nil)
  }

  @Test func `messages still arrive after our close and pings stay unanswered`() {
    var server = WebSocketEnd()
    server.machine.close(1001, at: .zero, output: &server.output)
    _ = server.takeOutput()
    server.receive(masked(1, text("last")) + masked(9) + masked(8, [0x03, 0xE9]))
    #expect(server.events == [.text(text("last")), .ping([]), .closed(WebSocketClosure(code: 1001)), .closeTransport])
    #expect(server.output.isEmpty)
  }

  @Test func `a lost transport is reported as 1006`() {
    var server = WebSocketEnd()
    server.machine.transportEnded(events: &server.events)
    #expect(
      server.events == [.closed(WebSocketClosure(code: .abnormal, failure: WebSocketFailure(.transportLost)))])
  }

  // MARK: Group 9 and 10, limits

  @Test func `a message over the limit closes with 1009 at its head`() {
    var limits = WebSocketLimits()
    limits.messageBytes = 10
    var server = WebSocketEnd(limits: limits)
    server.receive(masked(2, [UInt8](repeating: 0, count: 10)))
    #expect(server.events.count == 1)
    server.receive(Array(masked(2, [UInt8](repeating: 0, count: 11))[..<6]))
    #expect(server.failure == .messageTooLarge)
    #expect(server.sentCloseCode == 1009)
  }

  @Test func `fragments add up against the limit`() {
    var limits = WebSocketLimits()
    limits.messageBytes = 10
    var server = WebSocketEnd(limits: limits)
    server.receive(
      masked(2, [UInt8](repeating: 0, count: 6), final: false) + masked(0, [UInt8](repeating: 0, count: 5)))
    #expect(server.failure == .messageTooLarge)
  }

  @Test func `a bound counts from the next frame on, and lifts the limit for no message`() {
    var limits = WebSocketLimits()
    limits.messageBytes = 10
    var server = WebSocketEnd(limits: limits)
    server.machine.bound(messageBytes: 4)
    server.receive(masked(2, [UInt8](repeating: 0, count: 4)))
    server.machine.bound(messageBytes: 20)
    server.receive(masked(2, [UInt8](repeating: 0, count: 10)))
    #expect(server.events.count == 2)
    server.receive(masked(2, [UInt8](repeating: 0, count: 6), final: false))
    server.machine.bound(messageBytes: 4)
    server.receive(masked(0, [0]))
    #expect(server.failure == .messageTooLarge)
    var other = WebSocketEnd(limits: limits)
    other.machine.bound(messageBytes: 20)
    other.receive(masked(2, [UInt8](repeating: 0, count: 11)))
    #expect(other.failure == .messageTooLarge)
  }

  @Test func `a length no memory could hold allocates nothing`() {
    var server = WebSocketEnd()
    server.receive([0x82, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4])
    #expect(server.failure == .messageTooLarge)
  }

  // MARK: Time

  @Test func `silence is answered by a ping, then by dropping the peer`() {
    var server = WebSocketEnd()
    #expect(server.machine.nextDeadline == .zero + .seconds(12))
    server.pass(.seconds(11))
    #expect(server.output.isEmpty)
    server.pass(.seconds(1))
    #expect(server.takeOutput() == [0x89, 0])
    #expect(server.machine.nextDeadline == .zero + .seconds(22))
    server.pass(.seconds(10))
    #expect(
      server.events == [
        .closed(WebSocketClosure(code: .abnormal, failure: WebSocketFailure(.pongDeadline))), .abortTransport,
      ])
  }

  @Test func `any byte is a sign of life`() {
    var server = WebSocketEnd()
    server.pass(.seconds(12))
    server.receive([0x8A])
    #expect(server.machine.nextDeadline == .zero + .seconds(24))
    server.pass(.seconds(10))
    #expect(server.events.isEmpty)
  }

  @Test func `an unanswered close ends at its deadline`() {
    var server = WebSocketEnd()
    server.machine.close(1000, at: .zero, output: &server.output)
    server.pass(.seconds(5))
    #expect(
      server.events == [
        .closed(WebSocketClosure(code: .abnormal, failure: WebSocketFailure(.closeDeadline))), .abortTransport,
      ])
  }
}
