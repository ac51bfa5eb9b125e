import MartletRuntime
import MartletVocabulary
import MartletWire
import Testing

@testable import MartletLoop
@testable import MartletSockets

@Suite struct WebSocketChannelTests {
  /// What one end received, as a transcript; waits for an entry without sleeping.
  final class End: WebSocketHandler, Sendable {
    private struct State {
      var entries: [String] = []
      var waiters: [(@Sendable ([String]) -> Bool, CheckedContinuation<[String], Never>)] = []
    }
    private let state = Lock(State())
    private let bound = Lock<LoopBound<WebSocketChannel>?>(nil)
    private let echoes: Bool

    init(echoes: Bool = false) { self.echoes = echoes }

    func use(_ socket: WebSocketChannel) {
      let held = LoopBound(socket, on: socket.channel.loop)
      bound.withLock { $0 = held }
    }

    /// On the loop.
    var socket: WebSocketChannel? { bound.withLock { $0 }?.value }

    func wait(_ met: @escaping @Sendable ([String]) -> Bool) async -> [String] {
      await withCheckedContinuation { continuation in
        let now: [String]? = state.withLock { state in
          if met(state.entries) { return state.entries }
          state.waiters.append((met, continuation))
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    }

    private func note(_ entry: String) {
      let (entries, due) = state.withLock { state in
        state.entries.append(entry)
        let entries = state.entries
        let due = state.waiters.filter { $0.0(entries) }
        state.waiters.removeAll { $0.0(entries) }
        return (entries, due)
      }
      for (_, continuation) in due { continuation.resume(returning: entries) }
    }

    func received(text: [UInt8]) {
      if echoes { socket?.send(text: text) }
      note(text.count > 40 ? "text of \(text.count)" : "text \(String(decoding: text, as: UTF8.self))")
    }
    func received(binary: [UInt8]) { note("binary of \(binary.count)") }
    func receivedPong(_ payload: [UInt8]) { note("pong \(payload)") }
    func closed(_ closure: WebSocketClosure) { note("closed \(closure.code.rawValue) \(closure.reason)") }
  }

  /// The server's side of the opening handshake, as short as can be.
  final class Upgrader: ByteChannelHandler {
    let channel: any ByteChannel
    let end: End
    let deflate: WebSocketDeflateSettings?
    var limits = WebSocketLimits()
    var machine = HTTPServerMachine()
    var socket: WebSocketChannel?

    init(_ channel: any ByteChannel, end: End, deflate: WebSocketDeflateSettings?, limits: WebSocketLimits) {
      self.channel = channel
      self.end = end
      self.deflate = deflate
      self.limits = limits
    }

    func received(_ bytes: borrowing RawSpan) {
      if let socket { return socket.received(bytes) }
      var events: [HTTPServerEvent] = []
      machine.receive(bytes, events: &events)
      for case .request(let head, _) in events {
        guard let request = try? WebSocketUpgradeRequest(head), head.path == "/live" else {
          channel.write { machine.respond(HTTPResponseHead(status: 404), to: &$0.bytes) }
          continue
        }
        let agreed = deflate?.accept(request.extensions)
        channel.write {
          machine.upgrade(
            request.response(subprotocol: request.subprotocols.first, deflate: agreed?.response), to: &$0.bytes)
        }
        let compression = agreed.map { ZlibCompression($0.agreed, isServer: true, pool: ZlibPool()) }
        let socket = WebSocketChannel(channel, role: .server, limits: limits, compression: compression, handler: end)
        end.use(socket)
        self.socket = socket
      }
    }
    func drained() { socket?.drained() }
    func closed(_ reason: ChannelCloseReason) {
      socket?.closed(reason)
      socket = nil
    }
  }

  struct Pair: Sendable {
    let server: End
    let client: End
    let listener: SocketListener
    let loop: EpollLoop
  }

  func open(
    on loop: EpollLoop, target: String = "/live", deflate: WebSocketDeflateSettings? = nil,
    serverLimits: WebSocketLimits = WebSocketLimits(), clientLimits: WebSocketLimits = WebSocketLimits()
  ) async throws -> Pair {
    let (server, client) = (End(echoes: true), End())
    let listener = try SocketListener.start(.init(), on: [loop]) { channel in
      Upgrader(channel, end: server, deflate: deflate, limits: serverLimits)
    }
    let port = listener.port
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      loop.execute {
        var request = WebSocketConnector.Request(
          endpoint: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), target: target)
        request.deflate = deflate.map { _ in .client }
        request.limits = clientLimits
        request.subprotocols = ["one", "two"]
        let connector = WebSocketConnector(SocketConnector(), pool: ZlibPool(), random: SeededRandom(seed: 5))
        _ = connector.open(request, on: loop, handler: client) { result in
          switch result {
          case .success(let opened):
            #expect(opened.subprotocol == "one")
            client.use(opened.channel)
            continuation.resume()
          case .failure(let failure): continuation.resume(throwing: failure)
          }
        }
      }
    }
    return Pair(server: server, client: client, listener: listener, loop: loop)
  }

  @Test(arguments: [false, true])
  func `messages go both ways and the close is clean`(compressed: Bool) async throws {
    try await withLoop { loop in
      let pair = try await open(on: loop, deflate: compressed ? WebSocketDeflateSettings() : nil)
      await on(loop) {
        pair.client.socket?.send(text: Array("hello".utf8))
        pair.client.socket?.send(text: [UInt8](repeating: 0x62, count: 100_000))
        pair.client.socket?.ping([1, 2])
        pair.client.socket?.close(.normal, reason: "done")
      }
      let heard = await pair.client.wait { $0.last?.hasPrefix("closed") == true }
      #expect(heard == ["text hello", "text of 100000", "pong [1, 2]", "closed 1000 "])
      #expect(await pair.server.wait { $0.count == 3 } == ["text hello", "text of 100000", "closed 1000 done"])
    }
  }

  @Test func `compression shortens what is sent`() async throws {
    try await withLoop { loop in
      let pair = try await open(on: loop, deflate: WebSocketDeflateSettings())
      let before = await on(loop) { loop.counters.bytesSent }
      await on(loop) { pair.server.socket?.send(text: [UInt8](repeating: 0x61, count: 100_000)) }
      _ = await pair.client.wait { $0.count == 1 }
      #expect(await on(loop) { loop.counters.bytesSent } - before < 1000)
    }
  }

  @Test func `a silent peer is pinged and its answer keeps the connection`() async throws {
    try await withLoop { loop in
      var limits = WebSocketLimits()
      limits.pingInterval = .milliseconds(5)
      limits.pongTimeout = .seconds(5)
      let pair = try await open(on: loop, clientLimits: limits)
      #expect(await pair.client.wait { $0.count >= 3 }.allSatisfy { $0 == "pong []" })
    }
  }

  @Test func `a peer that no longer answers is given up`() async throws {
    try await withLoop { loop in
      var limits = WebSocketLimits()
      limits.pingInterval = .milliseconds(5)
      limits.pongTimeout = .milliseconds(5)
      let pair = try await open(on: loop, serverLimits: limits)
      await on(loop) { pair.client.socket?.channel.isReading = false }
      #expect(await pair.server.wait { $0.last?.hasPrefix("closed") == true }.last == "closed 1006 ")
    }
  }

  @Test func `losing the transport is a closure without a code`() async throws {
    try await withLoop { loop in
      let pair = try await open(on: loop)
      await on(loop) { pair.server.socket?.abort() }
      #expect(await pair.client.wait { !$0.isEmpty } == ["closed 1006 "])
      #expect(await on(loop) { pair.client.socket?.canSend } == false)
    }
  }

  @Test func `frames of one turn to one peer are one send`() async throws {
    try await withLoop { loop in
      let pair = try await open(on: loop)
      let before = await on(loop) { loop.counters.sends }
      await on(loop) {
        for number in 0..<50 { pair.server.socket?.send(text: Array("\(number)".utf8)) }
      }
      #expect(await pair.client.wait { $0.count == 50 }.last == "text 49")
      #expect(await on(loop) { loop.counters.sends } - before == 1)
    }
  }

  @Test func `an answer that is not an upgrade is a failure with its status`() async throws {
    try await withLoop { loop in
      do {
        _ = try await open(on: loop, target: "/elsewhere")
        Issue.record("there is no WebSocket at this path")
      } catch let failure as WebSocketConnector.Failure {
        #expect(failure.description.contains("404"))
      }
    }
  }
}
