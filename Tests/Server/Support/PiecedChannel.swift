import MartletRuntime
import MartletServer
import MartletWire

/// A stream that brings its pieces as TLS does: one after the other in one turn, as long as it is read, and the end
/// after the last. What it is answered is kept.
///
/// `@unchecked Sendable` because what changes is touched on the loop only.
final class PiecedChannel: ByteChannel, @unchecked Sendable {
  let loop: any Loop
  let peer = "127.0.0.1:1"
  let peerIsLoopback = true
  let pendingBytes = 0
  private var pieces: ArraySlice<[UInt8]>
  private let saysEnd: Bool
  private var handler: (any ByteChannelHandler)?
  private var answered: [UInt8] = []
  private var hasSaidEnd = false
  private var isOver = false
  private let done: CheckedContinuation<[UInt8], Never>

  private init(
    _ pieces: [[UInt8]], saysEnd: Bool, on loop: any Loop, _ done: CheckedContinuation<[UInt8], Never>
  ) {
    (self.pieces, self.saysEnd, self.loop, self.done) = (pieces[...], saysEnd, loop, done)
  }

  /// Sends pieces to the first loop of a server, and returns what has been answered when the server ends the stream.
  ///
  /// - Parameter saysEnd: Whether the client says after the last piece that it sends nothing more.
  static func exchange(_ pieces: [[UInt8]], saysEnd: Bool, with server: CountedServer) async -> [UInt8] {
    let hub = server.hubs[0]
    return await withCheckedContinuation { done in
      hub.loop.execute {
        let channel = PiecedChannel(pieces, saysEnd: saysEnd, on: hub.loop, done)
        channel.handler = HTTPConnection(hub.value.transport, channel)
        channel.deliver()
      }
    }
  }

  private func deliver() {
    while isReading, !isOver, let piece = pieces.popFirst() { handler?.received(piece.span.bytes) }
    guard isReading, !isOver, saysEnd, !hasSaidEnd else { return }
    hasSaidEnd = true
    if handler?.peerFinished() != true { finish() }
  }

  private func finish() {
    guard !isOver else { return }
    isOver = true
    loop.atEndOfTurn(self)
  }

  var isReading = true {
    didSet { if isReading, !oldValue { loop.atEndOfTurn(self) } }
  }

  func write(_ body: (inout OutboundBuffer) -> Void) {
    var buffer = OutboundBuffer()
    body(&buffer)
    if !isOver { answered += buffer.bytes }
  }

  func closeAfterFlush() { finish() }

  func abort() { finish() }
}

extension PiecedChannel: TurnEnd {
  func turnEnded() {
    guard isOver else { return deliver() }
    guard let told = handler else { return }
    handler = nil
    told.closed(.local)
    done.resume(returning: answered)
  }
}
