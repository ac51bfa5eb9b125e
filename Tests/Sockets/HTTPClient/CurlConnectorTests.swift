import CMartletSystem
import Foundation
import MartletRuntime
import MartletVocabulary
import Testing

@testable import MartletHTTPClient
@testable import MartletLoop
@testable import MartletSockets

/// Streams that libcurl opens keep the promises of every channel.
@Suite(.timeLimit(.minutes(1))) struct CurlConnectorTests {
  private func open(
    _ peer: Peer, to port: Int, host: String = "127.0.0.1", secure: Bool = false, on loop: EpollLoop,
    _ connector: CurlConnector = CurlConnector()
  ) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      loop.execute {
        let endpoint = ConnectionTarget(host: host, port: port, isSecure: secure)
        _ = connector.connect(to: endpoint, on: loop, handler: peer) { result in
          switch result {
          case .success(let channel):
            peer.use(channel)
            continuation.resume()
          case .failure(let error): continuation.resume(throwing: error)
          }
        }
      }
    }
  }

  /// Plain and over TLS, each with a connector that trusts the listener.
  private func withListener(
    secure: Bool, _ server: Server,
    _ body: (EpollLoop, SocketListener, CurlConnector) async throws -> Void
  ) async throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    try await withLoop { loop in
      var options = SocketListener.Options()
      if secure {
        options.tls = try TLSServerContext(
          certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
      }
      let listener = try SocketListener.start(options, on: [loop], acceptor: server.acceptor)
      var trust = CurlConnector.Options()
      trust.security.authorityFile = certificates.authorityFile
      try await body(loop, listener, CurlConnector(options: trust))
      listener.stop()
    }
  }

  @Test(arguments: [false, true])
  func `bytes come back from an echo, and both ends close`(secure: Bool) async throws {
    let server = Server(Peer.echo)
    try await withListener(secure: secure, server) { loop, listener, connector in
      let client = Peer()
      try await open(client, to: listener.port, secure: secure, on: loop, connector)
      for word in ["hello", " ", "again"] {
        let before = client.heard.bytes.count
        await on(loop) { client.channel?.write { $0.append(word) } }
        _ = await client.bytes(before + word.utf8.count)
      }
      #expect(client.heard.text == "hello again")
      let (name, isLoopback, port) = await on(loop) {
        (client.channel?.peer ?? "", client.channel?.peerIsLoopback == true, listener.port)
      }
      #expect(name == "127.0.0.1:\(port)" && isLoopback)
      await on(loop) { client.channel?.closeAfterFlush() }
      #expect(await client.close() == .local)
      #expect(await server.peer(0).close() == .endOfStream)
      // libcurl's sockets are no longer watched; the listener is.
      await on(loop) {}
      #expect(await on(loop) { loop.watchCount } == 1)
    }
  }

  @Test(arguments: [false, true])
  func `a megabyte each way through small buffers loses nothing and changes no order`(secure: Bool) async throws {
    let sent = (0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) ^ ($0 >> 11)) }
    let server = Server(Peer.echo)
    try await withListener(secure: secure, server) { loop, listener, connector in
      let client = Peer()
      try await open(client, to: listener.port, secure: secure, on: loop, connector)
      let pending = await on(loop) {
        guard let channel = client.channel as? CurlChannel else { return -1 }
        // The kernel takes little at a time, so that most of it waits here.
        _ = martlet_set_buffer_sizes(channel.descriptor, 16_384, 0)
        channel.write { $0.append(sent[..<400_000]) }
        return channel.pendingBytes
      }
      #expect(pending == 400_000)
      // The rest comes while the first is still on its way.
      await on(loop) { client.channel?.write { $0.append(sent[400_000...]) } }
      let isSame = await client.bytes(sent.count) == sent
      #expect(isSame)
      // Once, or twice when the first had left before the rest came.
      _ = await client.wait { $0.drained > 0 }
      #expect(await on(loop) { client.channel?.pendingBytes } == 0)
    }
  }

  @Test(arguments: [false, true])
  func `what comes while reading is paused comes afterwards`(secure: Bool) async throws {
    let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let server = Server()
    try await withListener(secure: secure, server) { loop, listener, connector in
      let client = Peer { channel, _ in channel.isReading = false }
      try await open(client, to: listener.port, secure: secure, on: loop, connector)
      await on(loop) { client.channel?.write { $0.append("x") } }
      let accepted = await server.peer(0)
      _ = await accepted.bytes(1)
      await on(loop) { accepted.channel?.write { $0.append(sent) } }
      var count = 0
      while count < sent.count {
        count = await client.wait { [count] in $0.bytes.count > count }.bytes.count
        // Nothing came after the piece that paused it.
        #expect(await on(loop) { client.channel?.isReading } == false)
        #expect(client.heard.bytes.count == count)
        await on(loop) { client.channel?.isReading = true }
      }
      let isSame = client.heard.bytes == sent
      #expect(isSame)
    }
  }

  @Test(arguments: [false, true])
  func `the peer's end is reported once, and so is a reset`(secure: Bool) async throws {
    let server = Server()
    try await withListener(secure: secure, server) { loop, listener, connector in
      let ended = Peer()
      try await open(ended, to: listener.port, secure: secure, on: loop, connector)
      await on(loop) { ended.channel?.write { $0.append("x") } }
      let first = await server.peer(0)
      _ = await first.bytes(1)
      await on(loop) {
        first.channel?.write { $0.append("bye") }
        first.channel?.closeAfterFlush()
      }
      #expect(await ended.close() == .endOfStream)
      #expect(ended.heard.text == "bye")
      let reset = Peer()
      try await open(reset, to: listener.port, secure: secure, on: loop, connector)
      await on(loop) { reset.channel?.write { $0.append("x") } }
      let second = await server.peer(1)
      _ = await second.bytes(1)
      await on(loop) { second.channel?.abort() }
      let told = await reset.close()
      guard case .failure = told else {
        Issue.record("a reset was told as \(String(describing: told))")
        return
      }
      await on(loop) {
        ended.channel?.abort()
        reset.channel?.write { $0.append("into nothing") }
      }
      await on(loop) {}
      #expect(ended.heard.closed.count == 1 && reset.heard.closed.count == 1)
    }
  }

  @Test func `a stream outlives the connector that opened it`() async throws {
    try await withListener(secure: false, Server(Peer.echo)) { loop, listener, _ in
      let client = Peer()
      try await open(client, to: listener.port, on: loop)
      await on(loop) { client.channel?.write { $0.append("still") } }
      #expect(await client.bytes(5) == Array("still".utf8))
      await on(loop) { client.channel?.abort() }
      #expect(await client.close() == .local)
    }
  }

  @Test func `a connection that does not come about says why`() async throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    try await withLoop { loop in
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: Server().acceptor)
      let taken = listener.port
      listener.stop()
      await on(loop) {}
      let refused = await #expect(throws: ConnectError.self) { try await open(Peer(), to: taken, on: loop) }
      #expect(refused?.code == .unreachable, "\(String(describing: refused))")
      let unknown = await #expect(throws: ConnectError.self) {
        try await open(Peer(), to: 80, host: "no-such-host.invalid", on: loop)
      }
      #expect(unknown?.code == .resolution, "\(String(describing: unknown))")
      let odd = await #expect(throws: ConnectError.self) { try await open(Peer(), to: 80, host: "a b", on: loop) }
      #expect(odd?.code == .other, "\(String(describing: odd))")
      var options = SocketListener.Options()
      options.tls = try TLSServerContext(
        certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
      let secure = try SocketListener.start(options, on: [loop], acceptor: Server().acceptor)
      let distrusted = await #expect(throws: ConnectError.self) {
        try await open(Peer(), to: secure.port, secure: true, on: loop)
      }
      #expect(distrusted?.code == .tls, "\(String(describing: distrusted))")
      secure.stop()
      // An authority that is trusted, for a name that is not this one.
      try certificates.issue(serial: 3, names: "DNS:elsewhere.test")
      options.tls = try TLSServerContext(
        certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
      let elsewhere = try SocketListener.start(options, on: [loop], acceptor: Server().acceptor)
      var trust = CurlConnector.Options()
      trust.security.authorityFile = certificates.authorityFile
      let connector = CurlConnector(options: trust)
      let misnamed = await #expect(throws: ConnectError.self) {
        try await open(Peer(), to: elsewhere.port, secure: true, on: loop, connector)
      }
      #expect(misnamed?.code == .tls, "\(String(describing: misnamed))")
      elsewhere.stop()
    }
  }

  @Test func `an abandoned attempt is never reported, and leaks nothing`() async throws {
    try await withLoop { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let connector = CurlConnector()
      let told = Lock(0)
      let port = listener.port
      await on(loop) {
        let attempt = connector.connect(
          to: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), on: loop, handler: Peer()
        ) { _ in told.withLock { $0 += 1 } }
        attempt.cancel()
      }
      // Its turn is over, and one more.
      await on(loop) {}
      await on(loop) {}
      #expect(told.withLock { $0 } == 0)
      #expect(await on(loop) { loop.watchCount } == 1)
      listener.stop()
    }
  }
}
