import CMartletSystem
import Glibc
import MartletRuntime
import MartletVocabulary
import Testing

@testable import MartletLoop
@testable import MartletSockets

/// Many connections that end at once, and others meanwhile.
@Suite struct ClosingTests {
  private static let count = 40

  /// The kernel's calls, in the order in which the loop makes them.
  private final class Recorded: SocketCalls, Sendable {
    enum Call { case send, close }
    let calls = Lock<[Call]>([])
    private let kernel = KernelCalls()

    func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
      calls.withLock { $0.append(.send) }
      return kernel.send(descriptor, bytes)
    }

    func receive(_ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer) -> Int {
      kernel.receive(descriptor, into: bytes)
    }

    func accept(_ listener: Int32) -> (descriptor: Int32, peer: SocketAddress?) { kernel.accept(listener) }

    func close(_ descriptor: Int32) {
      calls.withLock { $0.append(.close) }
      kernel.close(descriptor)
    }
  }

  /// Connections without a loop at their clients' end, accepted.
  private struct Crowd {
    let clients: [ChannelTests.Raw]
    let accepted: [Peer]

    init(_ count: Int, of server: Server, on listener: SocketListener) async throws {
      var clients: [ChannelTests.Raw] = []
      var accepted: [Peer] = []
      for _ in 0..<count {
        let index = server.count
        clients.append(try ChannelTests.Raw(port: listener.port))
        accepted.append(await server.peer(index))
      }
      self.clients = clients
      self.accepted = accepted
    }

    /// On the loop: returns when the system has something to report of every connection.
    func awaitReadiness() {
      for peer in accepted {
        guard let channel = peer.channel as? SocketChannel else { continue }
        var entry = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, 5000)
      }
    }
  }

  private func limits(_ closings: Int) -> LoopLimits {
    var limits = LoopLimits()
    limits.closingsPerTurn = closings
    return limits
  }

  @Test func `a request that is ready with many ends of streams is answered when a turn's share of them is closed`()
    async throws
  {
    let calls = Recorded()
    try await withLoop(limits: limits(2), calls: calls) { loop in
      let server = Server(Peer.echo)
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let lost = try await Crowd(Self.count, of: server, on: listener)
      let asking = try await Crowd(1, of: server, on: listener)
      await on(loop) {
        for client in lost.clients { client.close() }
        lost.awaitReadiness()
        asking.clients[0].send("?")
        asking.awaitReadiness()
      }
      for peer in lost.accepted { #expect(await peer.close() == .endOfStream) }
      #expect(await asking.accepted[0].bytes(1) == Array("?".utf8))
      await on(loop) {}
      let made = calls.calls.withLock { $0 }
      #expect(made.firstIndex(of: .send) == 2)
      #expect(made.count { $0 == .close } == Self.count)
      #expect(await on(loop) { loop.closings.mostInOneTurn } == 2)
      // Nothing is left of them: no watch, no place among the connections, none that waits.
      #expect(await on(loop) { loop.watchCount } == 2)
      #expect(await on(loop) { loop.closings.count } == 0)
      #expect(listener.connectionCount == 1)
      for peer in lost.accepted { #expect(peer.heard.closed.count == 1) }
      asking.clients[0].close()
    }
  }

  @Test func `connections that the server gives up at once are closed by and by, and receive nothing more`()
    async throws
  {
    let calls = Recorded()
    try await withLoop(limits: limits(3), calls: calls) { loop in
      let server = Server()
      let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
      let lost = try await Crowd(Self.count, of: server, on: listener)
      await on(loop) {
        for client in lost.clients { client.send("late") }
        lost.awaitReadiness()
        for peer in lost.accepted {
          peer.channel?.abort()
          peer.channel?.abort()
          peer.channel?.write { $0.append("nothing") }
          #expect(peer.heard.closed.isEmpty)
        }
      }
      for client in lost.clients { #expect(client.readToEnd() == nil) }
      for peer in lost.accepted {
        #expect(await peer.close() == .local)
        #expect(peer.heard.bytes.isEmpty)
      }
      await on(loop) {}
      for peer in lost.accepted { #expect(peer.heard.closed.count == 1) }
      #expect(calls.calls.withLock { $0 } == Array(repeating: .close, count: Self.count))
      #expect(await on(loop) { loop.closings.mostInOneTurn } == 3)
      #expect(await on(loop) { loop.watchCount } == 1)
      #expect(listener.connectionCount == 0)
      for client in lost.clients { client.close() }
    }
  }

  @Test func `a loop that stops closes the connections that wait for it`() async throws {
    let calls = Recorded()
    let loop = try EpollLoop.start(name: "test", limits: limits(1), calls: calls)
    let server = Server()
    let listener = try SocketListener.start(.init(), on: [loop], acceptor: server.acceptor)
    let lost = try await Crowd(Self.count, of: server, on: listener)
    let open = try await Crowd(Self.count, of: server, on: listener)
    await on(loop) {
      for peer in lost.accepted { peer.channel?.abort() }
      loop.stop()
    }
    for peer in lost.accepted + open.accepted {
      #expect(await peer.close() == .local)
    }
    loop.waitUntilStopped()
    #expect(calls.calls.withLock { $0.count { $0 == .close } } >= 2 * Self.count)
    #expect(listener.connectionCount == 0)
    for client in lost.clients + open.clients { client.close() }
  }

  private final class Ending: ClosingConnection {
    var isClosed = false
    func closes() { isClosed = true }
  }

  @Test func `clients with a connection for each request do not make the number of those that wait grow`() {
    let gate = ClosingGate(perTurn: 2)
    let lost = (0..<10).map { _ in Ending() }
    gate.begin()
    for ending in lost where gate.admit(ending) { ending.closes() }
    #expect(gate.count == 8)
    for _ in 0..<4 {
      // As many end in a turn as begin in it, and the turn's own share goes to those that wait.
      gate.begin()
      for _ in 0..<50 { gate.opened() }
      for ending in (0..<50).map({ _ in Ending() }) where gate.admit(ending) { ending.closes() }
      gate.closeSome()
    }
    #expect(gate.count == 0)
    #expect(!lost.contains { !$0.isClosed })
  }
}
