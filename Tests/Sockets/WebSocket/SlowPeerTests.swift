import MartletRuntime
import MartletTestSupport
import MartletVocabulary
import MartletWire
import Testing

@testable import MartletLoop
@testable import MartletSockets

/// Slow and dead peers of a WebSocket distinguished over real sockets, by a clock that the test moves.
@Suite(.timeLimit(.minutes(1))) struct SlowPeerTests {
  /// The server's end of a socket whose peer reads when the test says so.
  private final class Fixture: Sendable {
    let clock: ClockedLoop
    let loop: EpollLoop
    let end = WebSocketChannelTests.End()
    let peer: Peer
    /// Bytes that the peer may still read.
    private let allowance: Lock<Int>
    private let listener: SocketListener

    init(on loop: EpollLoop) async throws {
      let (clock, end, allowance) = (ClockedLoop(loop), end, Lock(0))
      (self.loop, self.clock, self.allowance) = (loop, clock, allowance)
      peer = Peer { channel, bytes in
        let isSpent = allowance.withLock { left in
          left -= bytes.count
          return left <= 0
        }
        if isSpent { channel.isReading = false }
      }
      listener = try SocketListener.start(.init(), on: [loop]) { channel in
        var limits = WebSocketLimits()
        limits.pingInterval = .seconds(12)
        limits.pongTimeout = .seconds(12)
        let socket = WebSocketChannel(
          ClockedChannel(channel, on: clock), role: .server, limits: limits, handler: end)
        end.use(socket)
        return socket
      }
      try await connect(peer, to: listener.port, on: loop)
      await on(loop) { [peer] in peer.channel?.isReading = false }
      while await on(loop, { [end] in end.socket == nil }) { await Task.yield() }
    }

    /// Sends more than the systems of both ends hold, so that bytes stay unread.
    func fill() async {
      let piece = [UInt8](repeating: 7, count: 1 << 20)
      for _ in 0..<15 { await on(loop) { [end] in end.socket?.send(binary: piece) } }
    }

    /// Has the peer read some of it, and waits until that is known here.
    func read(_ count: Int) async {
      let before = await acknowledged
      let heard = peer.heard.bytes.count
      allowance.withLock { $0 = count }
      await on(loop) { [peer] in peer.channel?.isReading = true }
      _ = await peer.bytes(heard + count)
      while await acknowledged == before { await Task.yield() }
    }

    private var acknowledged: Int { get async { await reading?.acknowledged ?? -1 } }
    var reading: PeerReading? { get async { await on(loop) { [end] in end.socket?.channel.reading } } }
    var isOpen: Bool { get async { await on(loop) { [end] in end.socket?.canSend == true } } }

    func stop() async {
      listener.stop()
      await on(loop) { [peer, end] in
        peer.channel?.abort()
        end.socket?.abort()
      }
    }
  }

  @Test func `a peer that reads slowly stays for as long as it reads, without one pong, and then ends`() async throws {
    try await withLoop { loop in
      let fixture = try await Fixture(on: loop)
      await fixture.fill()
      // A minute and a half at 40 KB/s: seven times the time in which a dead peer is given up.
      for round in 0..<8 {
        await fixture.clock.advance(.seconds(12))
        #expect(await fixture.isOpen, "round \(round)")
        await fixture.read(480_000)
      }
      #expect(await fixture.reading.map { $0.unread > 0 } == true)
      // What was read since the last look is seen once; then nothing has been read for as long as a pong may take.
      await fixture.clock.advance(.seconds(12))
      #expect(await fixture.isOpen)
      await fixture.clock.advance(.seconds(12))
      #expect(await !fixture.isOpen)
      _ = await fixture.end.wait { $0.contains { $0.hasPrefix("closed") } }
      await fixture.stop()
    }
  }

  @Test func `a peer that reads nothing is given up after a ping's time, however much waits for it`() async throws {
    try await withLoop { loop in
      let fixture = try await Fixture(on: loop)
      await fixture.fill()
      while await on(loop, { fixture.end.socket?.pendingBytes ?? 0 }) == 0 { await Task.yield() }
      await fixture.clock.advance(.seconds(12))
      #expect(await fixture.isOpen)
      await fixture.clock.advance(.seconds(12))
      #expect(await !fixture.isOpen)
      await fixture.stop()
    }
  }
}
