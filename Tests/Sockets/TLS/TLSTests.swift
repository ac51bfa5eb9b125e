import Foundation
import MartletRuntime
import MartletVocabulary
import Synchronization
import Testing

@testable import MartletLoop
@testable import MartletSockets

@Suite struct TLSTests {
  /// A TLS listener and clients that trust it.
  struct Fixture: Sendable {
    let certificates: TestCertificates
    let context: TLSServerContext
    let listener: SocketListener
    let server: Server
    let loop: EpollLoop

    init(
      on loop: EpollLoop, limits: ListenerLimits = ListenerLimits(),
      _ make: @escaping @Sendable () -> Peer = Peer.echo
    ) throws {
      self.loop = loop
      certificates = try TestCertificates()
      context = try TLSServerContext(
        certificateFile: certificates.certificateFile, keyFile: certificates.keyFile)
      server = Server(make)
      var options = SocketListener.Options()
      options.tls = context
      options.limits = limits
      listener = try SocketListener.start(options, on: [loop], acceptor: server.acceptor)
    }

    func client(_ change: (inout TLSClientContext.Options) -> Void = { _ in }) throws -> SocketConnector {
      var options = TLSClientContext.Options(authorityFile: certificates.authorityFile)
      change(&options)
      var connecting = SocketConnector.Options()
      connecting.tls = try TLSClientContext(options)
      return SocketConnector(options: connecting)
    }

    func connect(_ peer: Peer, _ connector: SocketConnector, host: String = "localhost") async throws {
      try await NetworkSupport.connect(
        peer, to: listener.port, host: host, secure: true, on: loop, connector: connector)
    }

    /// Sends text and waits for its echo.
    func exchange(_ peer: Peer, _ text: String) async {
      let before = peer.heard.bytes.count
      await on(loop) { peer.channel?.write { $0.append(text) } }
      _ = await peer.bytes(before + text.utf8.count)
    }

    func facts(_ peer: Peer) async -> (resumed: Bool, version: String)? {
      await on(loop) { (peer.channel as? TLSChannel).map { ($0.isResumed, $0.version) } }
    }
  }

  @Test(arguments: [false, true])
  func `bytes of any size come back over TLS 1.3 and 1.2`(onlyOld: Bool) async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop)
      let peer = Peer()
      try await fixture.connect(peer, try fixture.client { $0.onlyTLS12 = onlyOld })
      let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
      await on(loop) { peer.channel?.write { $0.append(sent) } }
      #expect(await peer.bytes(sent.count) == sent)
      #expect(await fixture.facts(peer)?.version == (onlyOld ? "TLSv1.2" : "TLSv1.3"))
      await on(loop) { peer.channel?.closeAfterFlush() }
      #expect(await fixture.server.peer(0).close() == .endOfStream)
      #expect(await peer.close() == .local)
      fixture.certificates.remove()
    }
  }

  @Test func `all writes of a turn are one send, also when they are many records`() async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop) { Peer() }
      let peer = Peer()
      try await fixture.connect(peer, try fixture.client())
      let accepted = await fixture.server.peer(0)
      await on(loop) { accepted.channel?.write { $0.append("first") } }
      _ = await peer.bytes(5)
      let before = await on(loop) { loop.counters.sends }
      await on(loop) {
        for _ in 0..<400 { accepted.channel?.write { $0.append([UInt8](repeating: 1, count: 100)) } }
      }
      _ = await peer.bytes(40_005)
      #expect(await on(loop) { loop.counters.sends } - before == 1)
      fixture.certificates.remove()
    }
  }

  @Test func `a second connection resumes the first one's session`() async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop)
      for onlyOld in [false, true] {
        let connector = try fixture.client { $0.onlyTLS12 = onlyOld }
        let (first, second) = (Peer(), Peer())
        try await fixture.connect(first, connector)
        // The ticket of TLS 1.3 comes with the first bytes after the handshake.
        await fixture.exchange(first, "hello")
        try await fixture.connect(second, connector)
        await fixture.exchange(second, "again")
        #expect(await fixture.facts(first)?.resumed == false)
        #expect(await fixture.facts(second)?.resumed == true)
      }
      fixture.certificates.remove()
    }
  }

  @Test func `reloading serves the new certificate, keeps connections and keeps sessions resumable`() async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop)
      let connector = try fixture.client()
      let (old, resumed) = (Peer(), Peer())
      try await fixture.connect(old, connector)
      await fixture.exchange(old, "before")
      try fixture.certificates.issue(serial: 3, names: "DNS:elsewhere.example")
      try fixture.context.reload()
      await fixture.exchange(old, "after")
      try await fixture.connect(resumed, connector)
      #expect(await fixture.facts(resumed)?.resumed == true)
      // A client without a session sees the new certificate, which is for another name.
      do {
        try await fixture.connect(Peer(), try fixture.client())
        Issue.record("the new certificate should not fit the name")
      } catch let error as ConnectError {
        #expect(error.code == .tls)
        #expect(error.message.contains("hostname mismatch"))
      }
      fixture.certificates.remove()
    }
  }

  @Test func `a broken file is refused by name, and the old certificate stays in use`() async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop)
      try "nonsense".write(toFile: fixture.certificates.keyFile, atomically: true, encoding: .utf8)
      #expect { try fixture.context.reload() } throws: { error in
        (error as? TLSError)?.message.contains("server.key") == true
      }
      try await fixture.connect(Peer(), try fixture.client())
      fixture.certificates.remove()
    }
  }

  @Test func `an unknown authority and a wrong name are refused, an address in the certificate is accepted`()
    async throws
  {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop)
      let stranger = try TestCertificates()
      await #expect(throws: ConnectError.self) {
        try await fixture.connect(Peer(), try fixture.client { $0.authorityFile = stranger.authorityFile })
      }
      try await fixture.connect(Peer(), try fixture.client(), host: "127.0.0.1")
      stranger.remove()
      fixture.certificates.remove()
    }
  }

  @Test func `a peer that talks plain text gets an alert and no connection`() async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop)
      let plain = Peer()
      try await connect(plain, to: fixture.listener.port, on: loop)
      await on(loop) { plain.channel?.write { $0.append("GET / HTTP/1.1\r\n\r\n") } }
      _ = await plain.close()
      #expect(fixture.server.count == 0)
      fixture.certificates.remove()
    }
  }

  @Test func `a peer that only connects is dropped at the handshake's deadline`() async throws {
    try await withLoop { loop in
      var limits = ListenerLimits()
      limits.handshakeTime = .milliseconds(20)
      let fixture = try Fixture(on: loop, limits: limits)
      let idle = Peer()
      try await connect(idle, to: fixture.listener.port, on: loop)
      #expect(await idle.close() != nil)
      #expect(fixture.listener.connectionCount == 0)
      fixture.certificates.remove()
    }
  }

  @Test func `a server that never answers the handshake is a time-out, and its stream is closed`() async throws {
    try await withLoop { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      var options = SocketConnector.Options()
      options.connectTime = .milliseconds(20)
      do {
        try await NetworkSupport.connect(
          Peer(), to: listener.port, host: "127.0.0.1", secure: true, on: loop,
          connector: SocketConnector(options: options))
        Issue.record("nobody answered")
      } catch let error as ConnectError {
        #expect(error.code == .timeout)
      }
      #expect(await server.peer(0).close() != nil)
    }
  }

  @Test func `a stream cut off without TLS's own end is a failure`() async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop) { Peer() }
      let peer = Peer()
      try await fixture.connect(peer, try fixture.client())
      let accepted = await fixture.server.peer(0)
      await on(loop) { (peer.channel as? TLSChannel)?.below.closeAfterFlush() }
      guard case .failure = await accepted.close() else {
        Issue.record("a truncated stream should be a failure")
        return
      }
      fixture.certificates.remove()
    }
  }

  @Test func `handshakes use a bounded part of a turn and all get through`() async throws {
    var limits = LoopLimits()
    limits.handshakesPerTurn = 1
    try await withLoop(limits: limits) { loop in
      let fixture = try Fixture(on: loop)
      let connector = try fixture.client()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask {
            let peer = Peer()
            try await fixture.connect(peer, connector)
            await fixture.exchange(peer, "through")
          }
        }
        try await group.waitForAll()
      }
      #expect(await on(loop) { loop.counters.handshakes } == 40)
      #expect(await on(loop) { loop.handshakes.mostInOneTurn } == 1)
      fixture.certificates.remove()
    }
  }

  @Test func `short reads and writes below do not disturb TLS`() async throws {
    let calls = FaultyCalls(.init(receives: Array(repeating: 1, count: 600), mostPerSend: 900))
    try await withLoop(calls: calls) { loop in
      let fixture = try Fixture(on: loop)
      let peer = Peer()
      try await fixture.connect(peer, try fixture.client())
      let sent = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
      await on(loop) { peer.channel?.write { $0.append(sent) } }
      #expect(await peer.bytes(sent.count) == sent)
      fixture.certificates.remove()
    }
  }

  @Test func `a paused reader over TLS continues where it stopped`() async throws {
    try await withLoop { loop in
      let fixture = try Fixture(on: loop) {
        Peer { channel, bytes in if bytes.last == UInt8(ascii: "1") { channel.isReading = false } }
      }
      let peer = Peer()
      try await fixture.connect(peer, try fixture.client())
      let accepted = await fixture.server.peer(0)
      // Two records in one segment: the second must wait although it has arrived.
      await on(loop) {
        guard let channel = peer.channel as? TLSChannel else { return }
        channel.write { $0.append("part 1") }
        channel.turnEnded()
        channel.write { $0.append("part 2") }
      }
      _ = await accepted.bytes(6)
      for _ in 0..<5 { await on(loop) {} }
      #expect(accepted.heard.text == "part 1")
      await on(loop) { accepted.channel?.isReading = true }
      #expect(await accepted.bytes(12) == Array("part 1part 2".utf8))
      fixture.certificates.remove()
    }
  }
}
