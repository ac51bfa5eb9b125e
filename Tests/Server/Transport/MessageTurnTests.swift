import Foundation
import MartletJSON
import MartletRuntime
import MartletServer
import MartletVocabulary
import MartletWire
import Testing

/// What one client sends at once is taken up over several turns, by every door, in order and whole.
@Suite(.timeLimit(.minutes(1))) struct MessageTurnTests {
  private static let count = 1_000
  private static let perTurn = 5

  private static func server() throws -> CountedServer {
    try CountedServer(schema: "type Query { one: Int }") { configuration in
      configuration.treeRules = #"{"rules": {".read": true, ".write": true}}"#
      configuration.resolvers = { $0.compute("Query", "one") { _ in 1 } }
      configuration.limits.http.messagesPerTurn = perTurn
    }
  }

  /// The most messages in any turn. The first of a connection is beside the turn's share, and so is the first of a
  /// socket: it may come in the turn of its handshake.
  private static func most(_ server: CountedServer) async -> Int {
    let hub = server.hubs[0]
    return await withCheckedContinuation { done in
      hub.loop.execute { done.resume(returning: hub.value.transport.gate.mostInOneTurn) }
    }
  }

  /// The opening handshake of a WebSocket.
  private static func upgrade(_ target: String, _ subprotocol: String? = nil) -> [UInt8] {
    let protocols = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
    return Array(
      """
      GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\(protocols)\r\n
      """.utf8)
  }

  private static func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    WebSocketFrame.append(opcode, payload, mask: 7, to: &frame)
    return frame
  }

  private static func text(_ text: String) -> [UInt8] { frame(.text, Array(text.utf8)) }

  private static let goodbye = frame(.close, [0x03, 0xE8])

  /// What a server sent after its handshake.
  private static func heard(_ answered: [UInt8]) throws -> [WebSocketEvent] {
    let end = try #require((3..<answered.count).first { answered[($0 - 3)...$0].elementsEqual([13, 10, 13, 10]) })
    var machine = WebSocketMachine(role: .client(masks: SeededRandom(seed: 1)), at: .zero)
    var output: [UInt8] = []
    var events: [WebSocketEvent] = []
    machine.receive(Array(answered[(end + 1)...]).span.bytes, at: .zero, output: &output, events: &events)
    return events
  }

  /// Frames as one read brings them, and as TLS does where each is a record.
  private static func joined(_ pieces: [[UInt8]], _ isJoined: Bool) -> [[UInt8]] {
    isJoined ? [Array(pieces.joined())] : pieces
  }

  @Test(arguments: [true, false])
  func `pipelined requests in front of the client's end are all answered in order, a few in each turn`(isJoined: Bool)
    async throws
  {
    let server = try Self.server()
    func path(_ number: Int) -> String { number.isMultiple(of: 3) ? "/nothing" : "/healthz" }
    let requests = (0..<Self.count).map { Array("GET \(path($0)) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8) }
    let answered = await PiecedChannel.exchange(Self.joined(requests, isJoined), saysEnd: true, with: server)
    let statuses = String(decoding: answered, as: UTF8.self).split(separator: "HTTP/1.1 ").compactMap {
      Int($0.prefix(3))
    }
    #expect(statuses == (0..<Self.count).map { $0.isMultiple(of: 3) ? 404 : 200 })
    #expect(await Self.most(server) == Self.perTurn + 1)
    await server.stop()
  }

  @Test(arguments: [true, false])
  func `messages of a GraphQL socket in front of a close are all taken in order, a few in each turn`(isJoined: Bool)
    async throws
  {
    let server = try Self.server()
    let before = await server.counts()
    var messages = (0..<Self.count).map { Self.text(#"{"type":"ping","payload":{"number":\#($0)}}"#) }
    // Operations, and a message so long that it is read away from the loop while the others wait.
    let comment = String(repeating: "#", count: 100_000)
    for number in 0..<20 {
      let document = number == 7 ? "{ one } \(comment)" : "{ one }"
      let message = #"{"id":"\#(number)","type":"subscribe","payload":{"query":"\#(document)"}}"#
      messages.insert(Self.text(message), at: number * 40)
    }
    messages.insert(Self.text(#"{"type":"connection_init"}"#), at: 0)
    let pieces = Self.joined(messages + [Self.goodbye], isJoined)
    let answered = await PiecedChannel.exchange(
      [Self.upgrade("/graphql", "graphql-transport-ws")] + pieces, saysEnd: false, with: server)
    let events = try Self.heard(answered)
    let numbers = events.compactMap { event -> Int64? in
      guard case .text(let text) = event, let message = try? JSONValue(parsing: text) else { return nil }
      return message["payload"]?["number"]?.int
    }
    #expect(numbers == (0..<Int64(Self.count)).map { $0 })
    #expect(events.last == .closed(WebSocketClosure(code: .normal)))
    #expect(await (server.counts() - before)[.operations] == 20)
    #expect(await Self.most(server) == Self.perTurn + 2)
    await server.stop()
  }

  @Test(arguments: [true, false])
  func `writes of a tree socket in front of a close are all done in order, a few in each turn`(isJoined: Bool)
    async throws
  {
    let server = try Self.server()
    let writes = (0..<Self.count).map { number in
      let path = number.isMultiple(of: 2) ? "/last" : "/all/n\(number)"
      return Self.text(#"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"\#(path)","d":\#(number)}}}"#)
    }
    let pieces = Self.joined(writes + [Self.goodbye], isJoined)
    let answered = await PiecedChannel.exchange(
      [Self.upgrade("/.ws?v=5&ns=test")] + pieces, saysEnd: false, with: server)
    #expect(try Self.heard(answered).last == .closed(WebSocketClosure(code: .normal)))
    // A write that comes after them is done after them.
    let after = try await HTTPRequest.send("PUT", "/after.json", port: server.port, body: "1")
    #expect(after.status == 200)
    let last = try await HTTPRequest.send("GET", "/last.json", port: server.port)
    #expect(last.json == .int(Int64(Self.count - 2)))
    let all = try await HTTPRequest.send("GET", "/all.json", port: server.port)
    #expect(all.json.object?.count == Self.count / 2)
    #expect(await Self.most(server) == Self.perTurn + 2)
    await server.stop()
  }

  @Test(arguments: [true, false])
  func `what a caller may use again after a refusal is taken up one by one, by every door`(isSocket: Bool) async throws
  {
    let access = try Served.access("ada")
    let server = try CountedServer(schema: "type Query { one: Int }", isClocked: true) { configuration in
      configuration.access = .keys(access)
      configuration.resolvers = { $0.compute("Query", "one") { _ in 1 } }
      configuration.limits.callers.operationsPerSecondPerIdentity = 20
      configuration.limits.callers.burst = .milliseconds(500)
      configuration.limits.callers.refusedPause = .milliseconds(500)
    }
    for _ in 0..<10 {
      _ = try await HTTPRequest.graphql("{ one }", port: server.port, headers: [("x-api-key", "ada")])
    }
    let before = await server.counts()
    // It is answered at once: other operations of one connection over HTTP are in turns of their own anyway.
    let bodies = (0..<30).map { #"{"id":"\#($0)","type":"subscribe","payload":{"query":"{ __typename }"}}"# }
    let pieces: [[UInt8]]
    if isSocket {
      let first = [Self.text(#"{"type":"connection_init","payload":{"x-api-key":"ada"}}"#)]
      let upgrade = String(decoding: Self.upgrade("/graphql", "graphql-transport-ws"), as: UTF8.self)
      pieces = [
        Array(upgrade.replacing("Upgrade: websocket", with: "x-api-key: ada\r\nUpgrade: websocket").utf8),
        Array((first + bodies.map(Self.text) + [Self.goodbye]).joined()),
      ]
    } else {
      let request = """
        POST /graphql HTTP/1.1\r\nHost: a\r\nx-api-key: ada\r\nContent-Type: application/json\r\n\
        Content-Length: 26\r\n\r\n{"query":"{ __typename }"}
        """
      pieces = [Array(bodies.map { _ in request }.joined().utf8)]
    }
    let isOver = Lock(false)
    async let answered = {
      let answered = await PiecedChannel.exchange(pieces, saysEnd: !isSocket, with: server)
      isOver.withLock { $0 = true }
      return answered
    }()
    // The first is refused. Had time moved on before it came, it would be allowed, and the next one met in its turn.
    while await (server.counts() - before)[.operations] == 0 { await Task.yield() }
    // To the end: where the last one is refused, the close behind it waits as well.
    while !isOver.withLock({ $0 }) { await server.advance(.milliseconds(50)) }
    let text = String(decoding: await answered, as: UTF8.self)
    #expect(await (server.counts() - before)[.operations] == 30)
    #expect(text.components(separatedBy: "RATE_LIMITED").count > 1)
    #expect(text.components(separatedBy: #"{"__typename":"Query"}"#).count > 20)
    // The handshake and the first message of a socket come in one turn with the first operation, which is refused.
    #expect(await Self.most(server) == (isSocket ? 3 : 1))
    await server.stop()
  }

  @Test func `sockets whose caller was refused come back one after the other`() async throws {
    let access = try Served.access("ada")
    let server = try CountedServer(schema: "type Query { one: Int }", isClocked: true) { configuration in
      configuration.access = .keys(access)
      configuration.resolvers = { $0.compute("Query", "one") { _ in 1 } }
      configuration.limits.callers.operationsPerSecondPerIdentity = 1
      configuration.limits.callers.burst = .milliseconds(1)
      configuration.limits.callers.refusedPause = .milliseconds(100)
    }
    var sockets: [RawSocket] = []
    for _ in 0..<16 {
      let socket = try await RawSocket.open(port: server.port, headers: [("x-api-key", "ada")])
      socket.send(#"{"type":"connection_init"}"#)
      _ = try await socket.message("connection_ack")
      sockets.append(socket)
    }
    let before = await server.counts()
    for socket in sockets {
      socket.send((1...5).map { #"{"id":"\#($0)","type":"subscribe","payload":{"query":"{ one }"}}"# })
      _ = try await socket.message("error")
    }
    var taken = await (server.counts() - before)[.operations]
    // One of all was allowed, and each socket has met its refusal.
    #expect(taken == 17)
    await server.advance(.milliseconds(99))
    for step in 0..<10 {
      await server.advance(.milliseconds(10))
      // What a timer began has been taken up some turns later.
      for _ in 0..<8 { _ = await server.counts() }
      let now = await (server.counts() - before)[.operations]
      #expect((1...3).contains(now - taken), "between \(99 + step * 10) and \(109 + step * 10) ms")
      taken = now
    }
    #expect(taken == 17 + 16)
    for socket in sockets { socket.abort() }
    await server.advance(.seconds(2))
    await server.stop()
  }
}
