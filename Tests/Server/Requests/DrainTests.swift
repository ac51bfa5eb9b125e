import MartletLoop
import MartletRuntime
import MartletServer
import MartletSockets
import Testing

/// How a server ends while clients keep connections they do not use.
@Suite(.timeLimit(.minutes(1))) struct DrainTests {
  /// A client that sends one request and never closes its side.
  private final class Keeper: ByteChannelHandler {
    var channel: (any ByteChannel)?
    var bytes: [UInt8] = []
    var hasEnded = false
    var reset = false
    var answered: CheckedContinuation<Void, any Error>?
    var ended: CheckedContinuation<Void, Never>?

    func received(_ span: borrowing RawSpan) {
      span.withUnsafeBytes { bytes.append(contentsOf: $0) }
      answered?.resume()
      answered = nil
    }
    func drained() {}
    func peerFinished() -> Bool {
      hasEnded = true
      ended?.resume()
      ended = nil
      return true
    }
    func closed(_ reason: ChannelCloseReason) {
      reset = !hasEnded
      ended?.resume()
      ended = nil
    }
  }

  @Test func `clients that never close an unused connection do not hold up the end, and lose no answer`() async throws {
    let server = try CountedServer(schema: "type Note @model { id: ID! }") {
      $0.limits.http.shutdownGrace = .seconds(3_600)
      $0.limits.http.shutdownLinger = .zero
    }
    let loop = try TestLoop.shared()
    let keeper = LoopBound(Keeper(), on: loop)
    let port = server.port
    try await withCheckedThrowingContinuation { (answered: CheckedContinuation<Void, any Error>) in
      loop.execute {
        keeper.value.answered = answered
        _ = SocketConnector().connect(
          to: ConnectionTarget(host: "127.0.0.1", port: port, isSecure: false), on: loop, handler: keeper.value
        ) { result in
          guard case .success(let channel) = result else { return }
          keeper.value.channel = channel
          channel.write { $0.append("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n") }
        }
      }
    }
    let hub = server.hubs[0]
    let (before, after): (Int, Int) = await withCheckedContinuation { done in
      hub.loop.execute {
        let before = server.loops[0].counters.timers
        hub.value.drain { done.resume(returning: (before, server.loops[0].counters.timers)) }
      }
    }
    // The end follows from what ends: a look, the linger, and a look at what it left.
    #expect(after - before < 6)
    await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
      loop.execute {
        if keeper.value.hasEnded || keeper.value.reset { return ended.resume() }
        keeper.value.ended = ended
      }
    }
    let (text, reset) = await withCheckedContinuation { done in
      loop.execute {
        done.resume(returning: (String(decoding: keeper.value.bytes, as: UTF8.self), keeper.value.reset))
      }
    }
    #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("ok\n"))
    #expect(!reset)
    loop.execute { keeper.value.channel?.abort() }
    await server.stop()
  }
}
