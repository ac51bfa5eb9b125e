import CMartletSystem
import Glibc
import MartletRuntime
import MartletVocabulary
import Synchronization
import Testing

@testable import MartletLoop
@testable import MartletSockets

@Suite struct ChannelTests {
  @Test(arguments: ["127.0.0.1", "::1"])
  func `bytes come back from an echo, and both ends know they are on loopback`(host: String) async throws {
    try await withLoop { loop in
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(
        SocketListener.Options(address: host), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, host: host, on: loop)
      await on(loop) { client.channel?.write { $0.append("hello") } }
      #expect(await client.bytes(5) == Array("hello".utf8))
      let accepted = await server.peer(0)
      let isLoopback = await on(loop) {
        accepted.channel?.peerIsLoopback == true && client.channel?.peerIsLoopback == true
      }
      #expect(isLoopback)
      await on(loop) { client.channel?.closeAfterFlush() }
      #expect(await accepted.close() == .endOfStream)
      #expect(await client.close() == .local)
    }
  }

  @Test func `all writes of a turn leave in one send, and the buffer is used again`() async throws {
    try await withLoop { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      let accepted = await server.peer(0)
      let before = await on(loop) { loop.counters }
      for round in 1...20 {
        await on(loop) {
          for _ in 0..<100 { client.channel?.write { $0.append("0123456789") } }
        }
        _ = await accepted.bytes(round * 1000)
      }
      let after = await on(loop) { loop.counters }
      #expect(after.sends - before.sends == 20)
      #expect(after.bytesSent - before.bytesSent == 20_000)
      #expect(after.buffersMade - before.buffersMade == 1)
    }
  }

  @Test func `short writes, EINTR and EAGAIN lose nothing and change no order`() async throws {
    let calls = FaultyCalls(
      .init(
        sends: [-4, -4, 1, 7, -11, -11, 100, 0, -4, 3], receives: [-4, -11, 1, 2, 5, -4], mostPerSend: 4096))
    let sent = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try await withLoop(calls: calls) { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      await on(loop) { client.channel?.write { $0.append(sent) } }
      #expect(await server.peer(0).bytes(sent.count) == sent)
      #expect(await client.wait { $0.drained > 0 }.drained == 1)
    }
  }

  @Test func `a reset in the middle of a send ends the stream once, with the system's words`() async throws {
    let calls = FaultyCalls()
    try await withLoop(calls: calls) { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      calls.faults.withLock { $0.sends = [SystemAnswer.connectionReset] }
      await on(loop) { client.channel?.write { $0.append("x") } }
      #expect(await client.close() == .failure("Connection reset by peer"))
      _ = await server.peer(0).close()
      await on(loop) { client.channel?.abort() }
      await on(loop) {}
      #expect(client.heard.closed.count == 1)
      #expect(await on(loop) { loop.watchCount } == 1)
    }
  }

  @Test func `a peer that resets is a failure`() async throws {
    try await withLoop { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      let accepted = await server.peer(0)
      await on(loop) {
        client.channel?.abort()
        #expect(client.heard.closed.isEmpty)
      }
      #expect(await client.close() == .local)
      #expect(await accepted.close() == .failure("Connection reset by peer"))
    }
  }

  /// A plain socket without a loop, for what a well-behaved end does not do.
  struct Raw {
    let descriptor: Int32

    init(port: Int) throws {
      let address = try #require(SocketAddress("127.0.0.1", port: port))
      var system = address.system
      var inProgress: Int32 = 0
      descriptor = martlet_connect(&system, &inProgress)
      try #require(descriptor >= 0)
      wait(Int16(POLLOUT))
    }

    func wait(_ events: Int16) {
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      _ = poll(&entry, 1, 5000)
    }

    func send(_ text: String) {
      let bytes = Array(text.utf8)
      _ = bytes.withUnsafeBytes { martlet_send(descriptor, $0.baseAddress, $0.count) }
    }

    /// Everything until the end of the stream; nil after a reset.
    func readToEnd() -> String? {
      var all: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 4096)
      while true {
        wait(Int16(POLLIN))
        let count = chunk.withUnsafeMutableBytes { martlet_receive(descriptor, $0.baseAddress, $0.count) }
        if count == 0 { return String(decoding: all, as: UTF8.self) }
        if count < 0 { return nil }
        all += chunk[..<count]
      }
    }

    /// How many bytes have arrived, of at most `count`.
    func read(_ count: Int) -> Int {
      wait(Int16(POLLIN))
      var chunk = [UInt8](repeating: 0, count: count)
      return max(0, chunk.withUnsafeMutableBytes { martlet_receive(descriptor, $0.baseAddress, $0.count) })
    }

    func finishWriting() { _ = martlet_shutdown_writing(descriptor) }
    func close() { _ = martlet_close(descriptor) }
  }

  @Test func `a peer that sends and finishes gets what was answered before the stream ends`() async throws {
    try await withLoop { loop in
      let server = Server { Peer { channel, _ in channel.write { $0.append("answer") } } }
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let raw = try Raw(port: listener.port)
      raw.send("question")
      raw.finishWriting()
      #expect(raw.readToEnd() == "answer")
      raw.close()
      #expect(await server.peer(0).close() == .endOfStream)
    }
  }

  @Test func `an owner may continue writing to a half-closed peer`() async throws {
    try await withLoop { loop in
      let server = Server { Peer(goesOnAfterPeer: true) }
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let raw = try Raw(port: listener.port)
      raw.finishWriting()
      let accepted = await server.peer(0)
      _ = await accepted.wait { $0.text.hasSuffix("<fin>") }
      await on(loop) { accepted.channel?.write { $0.append("late") } }
      await on(loop) { accepted.channel?.closeAfterFlush() }
      #expect(raw.readToEnd() == "late")
      #expect(await accepted.close() == .local)
      raw.close()
    }
  }

  @Test func `closing after a large write sends all of it although unread bytes wait`() async throws {
    let size = 3_000_000
    try await withLoop { loop in
      let server = Server {
        Peer { channel, _ in
          guard channel.pendingBytes == 0 else { return }
          channel.write { $0.append([UInt8](repeating: 0x61, count: size)) }
          channel.closeAfterFlush()
        }
      }
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let raw = try Raw(port: listener.port)
      raw.send("first")
      _ = await server.peer(0).bytes(1)
      raw.send("this is never read by the owner")
      #expect(raw.readToEnd()?.utf8.count == size)
      raw.close()
      #expect(await server.peer(0).close() == .local)
    }
  }

  @Test(arguments: [true, false])
  func `a peer that reads slowly gets all of a stream that is closing, and one that reads nothing is dropped`(
    reads: Bool
  ) async throws {
    let size = 8_000_000
    var limits = LoopLimits()
    limits.flushTime = .seconds(1)
    try await withLoop(limits: limits) { loop in
      let server = Server {
        Peer { channel, _ in
          channel.write { $0.append([UInt8](repeating: 0x61, count: size)) }
          channel.closeAfterFlush()
        }
      }
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let raw = try Raw(port: listener.port)
      raw.send("first")
      let accepted = await server.peer(0)
      guard reads else {
        #expect(await accepted.close() == .local)
        #expect(raw.readToEnd() == nil)
        return raw.close()
      }
      // The kernel asks for more once a third of its buffer is free, which takes this reader longer than the limit.
      var count = 0
      for _ in 0..<500 {
        count += raw.read(1_500)
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(accepted.heard.closed.isEmpty)
      #expect((raw.readToEnd()?.utf8.count ?? 0) + count == size)
      raw.close()
      #expect(await accepted.close() == .local)
    }
  }

  @Test func `a peer that does not read is dropped at the limit, and memory stays below it`() async throws {
    var limits = LoopLimits()
    limits.pendingBytes = 8_000_000
    try await withLoop(limits: limits) { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let raw = try Raw(port: listener.port)
      let accepted = await server.peer(0)
      let chunk = [UInt8](repeating: 1, count: 100_000)
      var most = 0
      for _ in 0..<200 {
        let pending = await on(loop) {
          accepted.channel?.write { $0.append(chunk) }
          return accepted.channel?.pendingBytes ?? 0
        }
        most = max(most, pending)
      }
      guard case .failure(let text) = await accepted.close() else {
        Issue.record("the stream should have failed")
        return
      }
      #expect(text.contains("unread"))
      #expect(most <= 8_000_000 + chunk.count)
      #expect(await on(loop) { accepted.channel?.pendingBytes } == 0)
      raw.close()
    }
  }

  @Test func `a paused reader receives nothing and continues where it stopped`() async throws {
    try await withLoop { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let raw = try Raw(port: listener.port)
      let accepted = await server.peer(0)
      await on(loop) { accepted.channel?.isReading = false }
      raw.send("waiting")
      let receives = await on(loop) { loop.counters.receives }
      for _ in 0..<5 { await on(loop) {} }
      #expect(accepted.heard.bytes.isEmpty)
      #expect(await on(loop) { loop.counters.receives } == receives)
      await on(loop) { accepted.channel?.isReading = true }
      #expect(await accepted.bytes(7) == Array("waiting".utf8))
      raw.close()
    }
  }

  @Test func `an owner that pauses reading because much is pending is called when it is sent, also in the same turn`()
    async throws
  {
    try await withLoop { loop in
      let server = Server {
        Peer { channel, bytes in
          channel.write { $0.append(bytes) }
          channel.isReading = false
        }
      }
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      await on(loop) { client.channel?.write { $0.append("small") } }
      #expect(await server.peer(0).wait { $0.drained > 0 }.drained == 1)
    }
  }

  @Test func `an idle connection costs less than a kilobyte of ours`() async throws {
    try await withLoop { loop in
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      await on(loop) { client.channel?.write { $0.append([UInt8](repeating: 1, count: 5000)) } }
      _ = await client.bytes(5000)
      let bytes = await on(loop) { () -> Int in
        guard let channel = client.channel as? SocketChannel else { return .max }
        return martlet_heap_bytes(Unmanaged.passUnretained(channel).toOpaque()) + channel.bufferCapacity
      }
      #expect(bytes < 512)
    }
  }
}
