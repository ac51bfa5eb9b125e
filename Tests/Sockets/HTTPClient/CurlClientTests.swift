import MartletRuntime
import MartletVocabulary
import MartletWire
import Testing

@testable import MartletHTTPClient
@testable import MartletLoop
@testable import MartletSockets

@Suite struct CurlClientTests {
  /// What an exchange reported to its owner; waits without sleeping.
  final class Owner: HTTPExchangeHandler, Sendable {
    struct Heard {
      var status: Int?
      var type: String?
      var version: Int?
      var pieces: [String] = []
      var ended = false
      var error: HTTPExchangeError?
      var text: String { pieces.joined() }
    }
    private struct State {
      var heard = Heard()
      var waiters: [(@Sendable (Heard) -> Bool, CheckedContinuation<Heard, Never>)] = []
    }
    private let state = Lock(State())
    let onPiece: @Sendable () -> Void

    init(onPiece: @escaping @Sendable () -> Void = {}) { self.onPiece = onPiece }

    func wait(_ met: @escaping @Sendable (Heard) -> Bool) async -> Heard {
      await withCheckedContinuation { continuation in
        let now: Heard? = state.withLock { state in
          if met(state.heard) { return state.heard }
          state.waiters.append((met, continuation))
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    }
    var heard: Heard { state.withLock { $0.heard } }

    private func change(_ body: (inout Heard) -> Void) {
      let (heard, due) = state.withLock { state in
        body(&state.heard)
        let heard = state.heard
        let due = state.waiters.filter { $0.0(heard) }
        state.waiters.removeAll { $0.0(heard) }
        return (heard, due)
      }
      for (_, continuation) in due { continuation.resume(returning: heard) }
    }

    func received(head: HTTPExchangeHead) {
      change {
        $0.status = head.status
        $0.type = head["Content-Type"]
        $0.version = head.majorVersion
      }
    }
    func received(body: borrowing RawSpan) {
      let copy = body.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      onPiece()
      change { $0.pieces.append(copy) }
    }
    func ended(_ error: HTTPExchangeError?) {
      change {
        #expect(!$0.ended)
        $0.ended = true
        $0.error = error
      }
    }
  }

  /// Holds a running exchange for its loop.
  final class Running: Sendable {
    private let exchange: Lock<LoopBound<HTTPExchange>?> = Lock(nil)
    func hold(_ exchange: HTTPExchange, on loop: EpollLoop) {
      let bound = LoopBound(exchange, on: loop)
      self.exchange.withLock { $0 = bound }
    }
    /// On the loop.
    var value: HTTPExchange? { exchange.withLock { $0 }?.value }
  }

  /// A server that answers every request's bytes by `respond`.
  func serve(
    on loop: EpollLoop, tls: TLSServerContext? = nil,
    _ respond: @escaping @Sendable (any ByteChannel, String) -> Void
  ) throws -> (listener: SocketListener, server: Server) {
    let server = Server { Peer { channel, bytes in respond(channel, String(decoding: bytes, as: UTF8.self)) } }
    var options = SocketListener.Options()
    options.tls = tls
    return (try SocketListener.start(options, on: [loop], acceptor: server.acceptor), server)
  }

  static let hello = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"

  func start(_ client: CurlClient, _ request: HTTPExchangeRequest, _ owner: Owner, on loop: EpollLoop) async -> Running
  {
    let running = Running()
    await on_(loop) { running.hold(client.start(request, on: loop, handler: owner), on: loop) }
    return running
  }

  private func on_(_ loop: EpollLoop, _ body: @escaping @Sendable () -> Void) async { await on(loop, body) }

  @Test func `a request goes out as asked and its response comes back`() async throws {
    try await withLoop { loop in
      let seen = Lock("")
      let box = Box(seen)
      let (listener, _) = try serve(on: loop) { channel, request in
        box.text.withLock { $0 += request }
        channel.write { $0.append(Self.hello) }
      }
      var request = HTTPExchangeRequest("PATCH", url: "http://127.0.0.1:\(listener.port)/path?x=1")
      request.headers = [("X-Token", "secret"), ("X-Empty", "")]
      request.body = Array("{\"a\":1}\0tail".utf8)
      let (client, owner) = (CurlClient(), Owner())
      _ = await start(client, request, owner, on: loop)
      let heard = await owner.wait { $0.ended }
      #expect(heard.error == nil)
      #expect(heard.status == 200)
      #expect(heard.type == "text/plain")
      #expect(heard.text == "hello")
      let text = box.text.withLock { $0 }
      #expect(text.hasPrefix("PATCH /path?x=1 HTTP/1.1\r\n"))
      #expect(text.contains("X-Token: secret\r\n"))
      #expect(text.contains("X-Empty:\r\n"))
      #expect(text.contains("Content-Length: 12\r\n"))
      #expect(!text.contains("Expect:"))
      #expect(text.hasSuffix("{\"a\":1}\0tail"))
    }
  }

  final class Box: Sendable {
    let text: Lock<String>
    init(_ text: consuming Lock<String>) { self.text = text }
  }

  @Test func `connections are used again`() async throws {
    try await withLoop { loop in
      let (listener, server) = try serve(on: loop) { channel, _ in channel.write { $0.append(Self.hello) } }
      let client = CurlClient()
      for _ in 0..<5 {
        let owner = Owner()
        _ = await start(client, HTTPExchangeRequest(url: "http://127.0.0.1:\(listener.port)/"), owner, on: loop)
        #expect(await owner.wait { $0.ended }.text == "hello")
      }
      #expect(server.count == 1)
    }
  }

  @Test func `a streamed body arrives piece by piece, and informational heads and trailers are passed over`()
    async throws
  {
    try await withLoop { loop in
      let (listener, server) = try serve(on: loop) { channel, _ in
        channel.write {
          $0.append("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
          $0.append("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        }
      }
      let (client, owner) = (CurlClient(), Owner())
      var request = HTTPExchangeRequest(url: "http://127.0.0.1:\(listener.port)/events")
      request.totalTime = nil
      request.bodyBytes = nil
      _ = await start(client, request, owner, on: loop)
      #expect(await owner.wait { $0.status != nil }.type == "text/event-stream")
      let accepted = await server.peer(0)
      for number in 1...3 {
        await on(loop) { accepted.channel?.write { $0.append("3\r\nno\(number)\r\n") } }
        _ = await owner.wait { $0.pieces.count == number }
      }
      await on(loop) { accepted.channel?.write { $0.append("0\r\nX-Trailer: 1\r\n\r\n") } }
      let heard = await owner.wait { $0.ended }
      #expect(heard.pieces == ["no1", "no2", "no3"])
      #expect(heard.error == nil)
    }
  }

  @Test func `cancelling ends the exchange in silence, also from inside a callback`() async throws {
    try await withLoop { loop in
      let (listener, server) = try serve(on: loop) { channel, _ in
        channel.write { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nfirst") }
      }
      let client = CurlClient()
      for inside in [false, true] {
        let running = Running()
        let owner = Owner { if inside { running.value?.cancel() } }
        await on(loop) {
          running.hold(
            client.start(
              HTTPExchangeRequest(url: "http://127.0.0.1:\(listener.port)/"), on: loop, handler: owner), on: loop)
        }
        _ = await owner.wait { !$0.pieces.isEmpty }
        if !inside { await on(loop) { running.value?.cancel() } }
        // The connection under a half-read response is of no more use and is closed.
        #expect(await server.peer(inside ? 1 : 0).close() != nil)
        #expect(!owner.heard.ended)
      }
    }
  }

  @Test func `a paused exchange takes nothing and continues`() async throws {
    let size = 2_000_000
    try await withLoop { loop in
      let (listener, _) = try serve(on: loop) { channel, _ in
        channel.write {
          $0.append("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
          $0.append([UInt8](repeating: 0x61, count: size))
        }
      }
      let running = Running()
      let owner = Owner { running.value?.isPaused = true }
      let client = CurlClient()
      await on(loop) {
        running.hold(
          client.start(HTTPExchangeRequest(url: "http://127.0.0.1:\(listener.port)/"), on: loop, handler: owner),
          on: loop)
      }
      _ = await owner.wait { $0.pieces.count == 1 }
      for _ in 0..<20 { await on(loop) {} }
      #expect(owner.heard.pieces.count == 1)
      var count = 1
      while !owner.heard.ended {
        await on(loop) { running.value?.isPaused = false }
        count += 1
        let wanted = count
        _ = await owner.wait { $0.pieces.count >= wanted || $0.ended }
      }
      #expect(owner.heard.text.utf8.count == size)
    }
  }

  @Test func `a body beyond the limit, a silent server and a broken answer fail, each with its code`() async throws {
    try await withLoop { loop in
      let (listener, _) = try serve(on: loop) { channel, request in
        if request.hasPrefix("GET /long") {
          channel.write {
            $0.append("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: 1000))
          }
        } else if request.hasPrefix("GET /broken") {
          channel.write { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort") }
          channel.closeAfterFlush()
        }
      }
      let client = CurlClient()
      func code(_ path: String, _ change: (inout HTTPExchangeRequest) -> Void = { _ in }) async -> HTTPExchangeError
        .Code?
      {
        var request = HTTPExchangeRequest(url: "http://127.0.0.1:\(listener.port)\(path)")
        change(&request)
        let owner = Owner()
        _ = await start(client, request, owner, on: loop)
        return await owner.wait { $0.ended }.error?.code
      }
      #expect(await code("/long") { $0.bodyBytes = 999 } == .bodyTooLarge)
      #expect(await code("/long") { $0.bodyBytes = 1000 } == nil)
      #expect(await code("/silent") { $0.totalTime = .milliseconds(30) } == .timeout)
      #expect(await code("/broken") == .response)
      #expect(await code("/x") { $0.headers = [("X", "a\r\nY: b")] } == .invalidRequest)
      #expect(await code("/x") { $0.method = "GET / HTTP/1.1\r\n" } == .invalidRequest)
      #expect(await code("/x") { $0.url = "file:///etc/passwd" } == .invalidRequest)
      listener.stop()
      await on(loop) {}
      let fresh = CurlClient()
      let owner = Owner()
      _ = await start(fresh, HTTPExchangeRequest(url: "http://127.0.0.1:\(listener.port)/"), owner, on: loop)
      #expect(await owner.wait { $0.ended }.error?.code == .connect)
    }
  }

  @Test func `a pinned address is where the connection goes, whatever the name`() async throws {
    try await withLoop { loop in
      let seen = Box(Lock(""))
      let (listener, _) = try serve(on: loop) { channel, request in
        seen.text.withLock { $0 += request }
        channel.write { $0.append(Self.hello) }
      }
      var request = HTTPExchangeRequest(url: "http://pinned.example:\(listener.port)/")
      request.pinnedAddress = "127.0.0.1"
      let (client, owner) = (CurlClient(), Owner())
      _ = await start(client, request, owner, on: loop)
      #expect(await owner.wait { $0.ended }.text == "hello")
      #expect(seen.text.withLock { $0 }.contains("Host: pinned.example:\(listener.port)\r\n"))
    }
  }

  @Test func `certificates are checked`() async throws {
    try await withLoop { loop in
      let certificates = try TestCertificates()
      let context = try TLSServerContext(
        certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
      let (listener, _) = try serve(on: loop, tls: context) { channel, _ in channel.write { $0.append(Self.hello) } }
      var options = CurlClient.Options()
      options.security.authorityFile = certificates.authorityFile
      let (trusting, other) = (CurlClient(options: options), CurlClient())
      let request = HTTPExchangeRequest(url: "https://localhost:\(listener.port)/")
      let (good, bad) = (Owner(), Owner())
      _ = await start(trusting, request, good, on: loop)
      #expect(await good.wait { $0.ended }.text == "hello")
      _ = await start(other, request, bad, on: loop)
      #expect(await bad.wait { $0.ended }.error?.code == .tls)
      certificates.remove()
    }
  }
}
