import MartletRuntime
import MartletSockets
import MartletVocabulary
import MartletWire
import Testing

/// The gate that messages of clients pass, and a WebSocket behind it, turn by turn.
@Suite struct MessageGateTests {
  /// A stream that carries nothing.
  private final class Stream: ByteChannel {
    let loop: any Loop
    let peer = "127.0.0.1:1"
    let peerIsLoopback = true
    let pendingBytes = 0
    var isReading = true

    init(_ loop: any Loop) { self.loop = loop }

    func write(_ body: (inout OutboundBuffer) -> Void) {
      var nowhere = OutboundBuffer()
      body(&nowhere)
    }
    func closeAfterFlush() {}
    func abort() {}
  }

  /// The owner of a WebSocket, which may pause at a message.
  private final class Owner: WebSocketHandler {
    var heard: [String] = []
    var socket: WebSocketChannel?
    let pausesAt: String?

    init(pausesAt: String? = nil) { self.pausesAt = pausesAt }

    func received(text: [UInt8]) {
      heard.append(String(decoding: text, as: UTF8.self))
      if heard.last == pausesAt { socket?.isReading = false }
    }
    func closed(_ closure: WebSocketClosure) { heard.append("closed \(closure.code.rawValue)") }
  }

  private struct Client {
    let stream: Stream
    let owner: Owner
    let socket: WebSocketChannel

    init(_ loop: StepLoop, _ gate: MessageGate, pausesAt: String? = nil) {
      stream = Stream(loop)
      owner = Owner(pausesAt: pausesAt)
      socket = WebSocketChannel(stream, role: .server, gate: gate, handler: owner)
      owner.socket = socket
    }

    func send(_ numbers: Range<Int>, closing: Bool = false) {
      var bytes: [UInt8] = []
      for number in numbers { WebSocketFrame.append(.text, Array("\(number)".utf8), mask: 1, to: &bytes) }
      if closing { WebSocketFrame.append(.close, [0x03, 0xE8], mask: 1, to: &bytes) }
      socket.received(bytes.span.bytes)
    }
  }

  private static func texts(_ numbers: Range<Int>) -> [String] { numbers.map(String.init) }

  @Test func `those in line get their share in turn, and another's first message is taken at once`() {
    let loop = StepLoop()
    let gate = MessageGate(on: loop, perTurn: 4)
    let clients = (0..<3).map { _ in Client(loop, gate) }
    for client in clients.prefix(2) { client.send(0..<20) }
    // The first of each, and what the turn allows beyond them.
    #expect(clients.map(\.owner.heard.count) == [5, 1, 0])
    #expect(clients.map(\.stream.isReading) == [false, false, true])
    loop.turn()
    clients[2].send(0..<20)
    #expect(clients.map(\.owner.heard.count) == [5, 1, 1], "those in line come first")
    loop.turn()
    #expect(clients.map(\.owner.heard.count) == [9, 1, 1])
    loop.turn()
    #expect(clients.map(\.owner.heard.count) == [9, 5, 1])
    loop.turn()
    #expect(clients.map(\.owner.heard.count) == [9, 5, 5])
    loop.run()
    for client in clients {
      #expect(client.owner.heard == Self.texts(0..<20))
      #expect(client.stream.isReading)
    }
    #expect(gate.mostInOneTurn == 6)
  }

  /// What another connection answers, with the bytes of its encryption where it has some.
  private final class Answer: TurnEnd {
    let loop: StepLoop
    var layers: Int
    let sent: () -> Void

    init(_ loop: StepLoop, layers: Int, sent: @escaping () -> Void) {
      (self.loop, self.layers, self.sent) = (loop, layers, sent)
    }

    func turnEnded() {
      layers -= 1
      if layers == 0 { sent() } else { loop.atEndOfTurn(self) }
    }
  }

  @Test(arguments: [1, 2])
  func `what a turn has answered is sent before those in line are taken up`(layers: Int) {
    let loop = StepLoop()
    let client = Client(loop, MessageGate(on: loop, perTurn: 4))
    client.send(0..<20)
    var taken: [Int] = []
    for _ in 0..<4 {
      loop.atEndOfTurn(Answer(loop, layers: layers) { taken.append(client.owner.heard.count) })
      loop.turn()
    }
    #expect(taken == [5, 5, 9, 13])
    #expect(client.owner.heard == Self.texts(0..<17))
  }

  @Test func `an owner that pauses receives nothing until it resumes, then the rest in order, and last the close`() {
    let loop = StepLoop()
    let client = Client(loop, MessageGate(on: loop, perTurn: 4), pausesAt: "2")
    client.send(0..<10, closing: true)
    loop.run()
    #expect(client.owner.heard == Self.texts(0..<3))
    #expect(!client.stream.isReading)
    client.socket.isReading = true
    #expect(client.owner.heard == Self.texts(0..<3), "never inside the owner's call")
    loop.run()
    #expect(client.owner.heard == Self.texts(0..<10) + ["closed 1000"])
  }

  @Test
  func `a socket that is slowed is taken up by few messages in each turn, until it has brought no more than they`() {
    let loop = StepLoop()
    let client = Client(loop, MessageGate(on: loop, perTurn: 16))
    client.socket.slow(to: 2)
    client.send(0..<9)
    #expect(client.owner.heard == Self.texts(0..<2))
    for taken in [2, 4, 6, 8, 9] {
      loop.turn()
      #expect(client.owner.heard == Self.texts(0..<taken))
    }
    #expect(client.stream.isReading)
    client.send(9..<20)
    #expect(client.owner.heard == Self.texts(0..<20))
  }

  @Test func `messages that came before their transport was lost are all taken`() {
    for pausesAt in [nil, "7"] {
      let loop = StepLoop()
      let client = Client(loop, MessageGate(on: loop, perTurn: 4), pausesAt: pausesAt)
      client.send(0..<20)
      client.socket.closed(.failure("Connection reset by peer"))
      #expect(client.owner.heard == Self.texts(0..<5))
      loop.run()
      // What an owner does not want then, it can answer no more.
      #expect(client.owner.heard == Self.texts(0..<(pausesAt == nil ? 20 : 8)) + ["closed 1006"])
    }
  }

  @Test func `nothing is taken after an owner's own end, nor for one that pauses when the transport is lost`() {
    let loop = StepLoop()
    let gate = MessageGate(on: loop, perTurn: 4)
    let ended = Client(loop, gate)
    ended.send(0..<20)
    ended.socket.closed(.local)
    loop.run()
    let paused = Client(loop, gate, pausesAt: "1")
    paused.send(0..<20)
    paused.socket.closed(.failure("Connection reset by peer"))
    #expect(ended.owner.heard == Self.texts(0..<5) + ["closed 1006"])
    #expect(paused.owner.heard == Self.texts(0..<2) + ["closed 1006"])
    paused.socket.isReading = true
    loop.run()
    #expect(paused.owner.heard.count == 3)
  }
}
