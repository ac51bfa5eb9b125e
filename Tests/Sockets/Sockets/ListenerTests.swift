import MartletRuntime
import MartletVocabulary
import Synchronization
import Testing

@testable import MartletLoop
@testable import MartletSockets

@Suite struct ListenerTests {
  @Test func `connections are dealt to the loops in turn`() async throws {
    let group = try LoopGroup.start(count: 3)
    let server = Server()
    let listener = try SocketListener.start(.init(), on: group.loops, acceptor: server.acceptor)
    try await withLoop { loop in
      for _ in 0..<6 { try await connect(Peer(), to: listener.port, on: loop) }
      var owners: [ObjectIdentifier: Int] = [:]
      for index in 0..<6 {
        let peer = await server.peer(index)
        for loop in group.loops where await on(loop, { peer.isOwned(by: loop) }) {
          owners[ObjectIdentifier(loop), default: 0] += 1
        }
      }
      #expect(owners.count == 3)
      #expect(owners.values.allSatisfy { $0 == 2 })
    }
    group.stop()
  }

  @Test func `without descriptors the peer is closed with the reserve's help and the next one is served`() async throws
  {
    let calls = FaultyCalls(.init(accepts: [SystemAnswer.processDescriptors]))
    try await withLoop(calls: calls) { loop in
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let refused = Peer()
      try await connect(refused, to: listener.port, on: loop)
      #expect(await refused.close() != nil)
      let served = Peer()
      try await connect(served, to: listener.port, on: loop)
      await on(loop) { served.channel?.write { $0.append("ok") } }
      #expect(await served.bytes(2) == Array("ok".utf8))
      #expect(await on(loop) { loop.counters.refused } == 1)
      #expect(listener.connectionCount == 1)
    }
  }

  @Test func `when the reserve does not help, accepting pauses and does not spin`() async throws {
    let exhausted = [Int](repeating: SystemAnswer.systemDescriptors, count: 6)
    let calls = FaultyCalls(.init(accepts: exhausted))
    try await withLoop(calls: calls) { loop in
      var options = SocketListener.Options()
      options.limits.exhaustedPause = .milliseconds(5)
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(options, on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      await on(loop) { client.channel?.write { $0.append("patience") } }
      #expect(await client.bytes(8) == Array("patience".utf8))
      // Two failures per try, three tries, then the accept that served, and one that found nothing more.
      #expect(calls.faults.withLock { $0.acceptsAsked } <= 8)
      #expect(await on(loop) { loop.counters.turns } < 60)
      #expect(listener.connectionCount == 1)
    }
  }

  @Test func `interrupted and aborted accepts end no listener`() async throws {
    let calls = FaultyCalls(
      .init(accepts: [SystemAnswer.interrupted, SystemAnswer.connectionAborted, SystemAnswer.interrupted]))
    try await withLoop(calls: calls) { loop in
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      await on(loop) { client.channel?.write { $0.append("ok") } }
      #expect(await client.bytes(2) == Array("ok".utf8))
    }
  }

  @Test func `connections beyond the limit are closed, and leaving makes room`() async throws {
    try await withLoop { loop in
      var options = SocketListener.Options()
      options.limits.connections = 2
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(options, on: [loop], acceptor: server.acceptor)
      let peers = [Peer(), Peer(), Peer()]
      for peer in peers { try await connect(peer, to: listener.port, on: loop) }
      #expect(await peers[2].close() != nil)
      #expect(listener.connectionCount == 2)
      await on(loop) { peers[0].channel?.abort() }
      _ = await server.peer(0).close()
      let late = Peer()
      try await connect(late, to: listener.port, on: loop)
      await on(loop) { late.channel?.write { $0.append("ok") } }
      #expect(await late.bytes(2) == Array("ok".utf8))
    }
  }

  @Test func `one address may hold so many connections and no more`() async throws {
    try await withLoop { loop in
      var options = SocketListener.Options()
      options.limits.connectionsPerHost = 1
      let server = Server()
      let listener = try SocketListener.start(options, on: [loop], acceptor: server.acceptor)
      let (first, second) = (Peer(), Peer())
      try await connect(first, to: listener.port, on: loop)
      _ = await server.peer(0)
      try await connect(second, to: listener.port, on: loop)
      #expect(await second.close() != nil)
      #expect(server.count == 1)
    }
  }

  @Test func `an acceptor that answers nil refuses the stream`() async throws {
    try await withLoop { loop in
      let listener = try SocketListener.start(.init(), on: [loop]) { _ in nil }
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      #expect(await client.close() != nil)
      #expect(listener.connectionCount == 0)
    }
  }

  @Test func `a taken port is an error that names it`() async throws {
    try await withLoop { loop in
      let listener = try SocketListener.start(.init(), on: [loop]) { _ in nil }
      #expect(throws: SocketError.self) {
        try SocketListener.start(.init(port: listener.port), on: [loop]) { _ in nil }
      }
    }
  }

  @Test func `a stopped listener refuses, and open streams live on`() async throws {
    try await withLoop { loop in
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, on: loop)
      _ = await server.peer(0)
      listener.stop()
      await on(loop) {}
      await #expect(throws: ConnectError.self) { try await connect(Peer(), to: listener.port, on: loop) }
      await on(loop) { client.channel?.write { $0.append("still") } }
      #expect(await client.bytes(5) == Array("still".utf8))
    }
  }

  @Test func `a port without a listener is refused, with the address in the text`() async throws {
    try await withLoop { loop in
      let listener = try SocketListener.start(.init(), on: [loop]) { _ in nil }
      listener.stop()
      await on(loop) {}
      do {
        try await connect(Peer(), to: listener.port, on: loop)
        Issue.record("the connection should have been refused")
      } catch let error as ConnectError {
        #expect(error.code == .refused)
        #expect(error.message.hasPrefix("127.0.0.1:\(listener.port)"))
      }
    }
  }

  @Test func `a name is looked up on another thread, and a port that is none is an error`() async throws {
    try await withLoop { loop in
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let client = Peer()
      try await connect(client, to: listener.port, host: "localhost", on: loop)
      await on(loop) { client.channel?.write { $0.append("named") } }
      #expect(await client.bytes(5) == Array("named".utf8))
      await #expect(throws: ConnectError.self) { try await connect(Peer(), to: 70_000, on: loop) }
    }
  }

  @Test func `an abandoned attempt never completes and leaves nothing behind`() async throws {
    try await withLoop { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let port = listener.port
      await on(loop) {
        let attempt = SocketConnector().connect(
          to: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), on: loop, handler: Peer()
        ) { _ in Issue.record("an abandoned attempt completed") }
        attempt.cancel()
      }
      for _ in 0..<3 { await on(loop) {} }
      #expect(await on(loop) { loop.watchCount } == 1)
    }
  }
}

extension Peer {
  func isOwned(by loop: EpollLoop) -> Bool { owner === loop }
}
