internal import MartletLoop
package import MartletRuntime
internal import MartletVocabulary

/// TLS over one TCP channel, with the same manners: no buffers while idle, one write of all bytes of a turn at its end.
///
/// The owner's handler is not called before the handshake is done. Confined to its loop; held by the channel below.
package final class TLSChannel: ByteChannel {
  private enum Phase {
    /// Next: any of the others.
    case handshaking
    /// Next: `closing`, `closed`.
    case open
    /// Goodbye is said or about to be; the channel below flushes. Next: `closed`.
    case closing
    case closed
  }

  /// Called with the result of the handshake; returns the channel's handler.
  typealias HandshakeEnd = (Result<TLSChannel, ConnectError>) -> (any ByteChannelHandler)?

  let below: SocketChannel
  private let engine: TLSEngine
  private let isGated: Bool
  private var phase = Phase.handshaking
  private var handshakeEnd: HandshakeEnd?
  private var handler: (any ByteChannelHandler)?
  private var deadline: LoopTimer?
  private var outbound = OutboundBuffer()
  private var holdsBuffer = false
  private var awaitsTurnEnd = false
  private var wantsReading = true
  private var awaitsAdmission = false
  private var peerSaidGoodbye = false
  private var mayWriteAfterPeer = false
  private var ending: ChannelCloseReason?
  /// Cipher text that arrived while reading is paused or a handshake waits for its turn. Bounded by one read of the
  /// loop, because the channel below pauses with us.
  private var held: [UInt8] = []

  private init(below: SocketChannel, engine: TLSEngine, isGated: Bool, handshakeEnd: @escaping HandshakeEnd) {
    self.below = below
    self.engine = engine
    self.isGated = isGated
    self.handshakeEnd = handshakeEnd
  }

  /// Serves TLS on an accepted connection; `acceptor` is asked after the handshake.
  static func accept(
    _ below: SocketChannel, context: TLSServerContext, deadline: Duration, acceptor: @escaping ChannelAcceptor
  ) {
    guard let engine = try? TLSEngine(server: context.context, below: below) else { return below.abort() }
    let channel = TLSChannel(below: below, engine: engine, isGated: true) { result in
      switch result {
      case .success(let channel): acceptor(channel)
      case .failure: nil
      }
    }
    guard below.start(handler: channel) else { return }
    channel.deadline = below.eventLoop.schedule(at: below.eventLoop.now + deadline) { [weak channel] in
      channel?.abandonHandshake()
    }
  }

  /// Begins TLS on a connected channel. `completion` runs once, unless the handshake is abandoned.
  static func connect(
    _ below: SocketChannel, host: String, port: Int, context: TLSClientContext, handler: any ByteChannelHandler,
    completion: @escaping (Result<any ByteChannel, ConnectError>) -> Void
  ) -> TLSChannel? {
    let engine: TLSEngine
    do {
      engine = try TLSEngine(client: context, host: host, port: port, below: below)
    } catch {
      below.abort()
      completion(.failure(ConnectError(.tls, error.message)))
      return nil
    }
    let channel = TLSChannel(below: below, engine: engine, isGated: false) { result in
      switch result {
      case .success(let channel):
        // The owner receives the channel before the channel's first event.
        completion(.success(channel))
        return handler
      case .failure(let error):
        completion(.failure(error))
        return nil
      }
    }
    guard below.start(handler: channel) else {
      completion(.failure(ConnectError(.other, "no descriptors to wait with")))
      return nil
    }
    channel.pump(isAdmitted: true)
    return channel.phase == .handshaking ? channel : nil
  }

  package var loop: any Loop { below.loop }
  package var peer: String { below.peer }
  package var peerIsLoopback: Bool { below.peerIsLoopback }
  package var pendingBytes: Int { outbound.count + below.pendingBytes }
  package var reading: PeerReading? {
    below.reading.map { PeerReading(acknowledged: $0.acknowledged, unread: $0.unread + outbound.count) }
  }
  /// Whether the session of an earlier connection was resumed.
  package var isResumed: Bool { engine.isResumed }
  /// `TLSv1.3` or `TLSv1.2`.
  package var version: String { engine.version }

  package var isReading: Bool {
    get { wantsReading }
    set {
      wantsReading = newValue
      guard phase == .open else { return }
      below.isReading = newValue
      // What is held is taken up at the end of the turn, never inside the owner's call.
      if newValue, !held.isEmpty { registerForTurnEnd() }
    }
  }

  // MARK: Writing and ending

  package func write(_ body: (inout OutboundBuffer) -> Void) {
    guard phase == .open || phase == .handshaking else {
      var nowhere = OutboundBuffer()
      body(&nowhere)
      return
    }
    if !holdsBuffer {
      outbound = below.eventLoop.takeBuffer()
      holdsBuffer = true
    }
    body(&outbound)
    registerForTurnEnd()
  }

  package func closeAfterFlush() {
    guard phase == .open || phase == .handshaking else { return }
    end(.local)
  }

  package func abort() {
    guard phase != .closed else { return }
    ending = ending ?? .local
    below.abort()
  }

  /// Drops a handshake whose owner has gone, or that took too long.
  func abandonHandshake() {
    guard phase == .handshaking else { return }
    handshakeEnd = nil
    below.abort()
  }

  private func end(_ reason: ChannelCloseReason) {
    phase = .closing
    ending = ending ?? reason
    registerForTurnEnd()
  }

  private func registerForTurnEnd() {
    guard !awaitsTurnEnd else { return }
    awaitsTurnEnd = true
    below.eventLoop.atEndOfTurn(self)
  }

  // MARK: The pump

  private func process(_ bytes: UnsafeRawBufferPointer, isAdmitted: Bool = false) {
    unsafe engine.feed(bytes)
    pump(isAdmitted: isAdmitted)
    held = engine.takeUnread()
  }

  private func processHeld(isAdmitted: Bool = false) {
    let bytes = held
    held = []
    unsafe bytes.withUnsafeBytes { unsafe process($0, isAdmitted: isAdmitted) }
  }

  private func pump(isAdmitted: Bool) {
    if phase == .handshaking {
      guard isAdmitted || !isGated || isAdmittedByLoop() else { return }
      switch engine.handshake() {
      case .done: opened()
      case .wantsInput: return
      case .failed(let text): return fail(text)
      }
    }
    let scratch = below.eventLoop.plainScratch
    while phase == .open, wantsReading, !peerSaidGoodbye {
      switch unsafe engine.read(into: scratch.memory) {
      case .bytes(let count):
        guard let handler else { return }
        scratch.show(count) { handler.received($0) }
      case .wantsInput: return
      case .ended: receivedGoodbye()
      case .failed(let text): fail(text)
      }
    }
  }

  private func isAdmittedByLoop() -> Bool {
    let admitted = below.eventLoop.handshakes.admit(on: below.eventLoop) { [weak self] in
      guard let self, self.awaitsAdmission else { return }
      self.awaitsAdmission = false
      self.below.isReading = true
      if self.phase == .handshaking { self.processHeld(isAdmitted: true) }
    }
    if !admitted {
      awaitsAdmission = true
      below.isReading = false
    }
    return admitted
  }

  private func opened() {
    phase = .open
    deadline?.cancel()
    deadline = nil
    below.eventLoop.ownCounters.handshakes += 1
    let end = handshakeEnd
    handshakeEnd = nil
    handler = end?(.success(self))
    if handler == nil {
      abort()
    } else if !wantsReading {
      below.isReading = false
    }
  }

  private func receivedGoodbye() {
    peerSaidGoodbye = true
    mayWriteAfterPeer = handler?.peerFinished() ?? false
    if !mayWriteAfterPeer, phase == .open { end(.endOfStream) }
  }

  private func fail(_ text: String) {
    let wasHandshaking = phase == .handshaking
    phase = .closing
    ending = .failure(text)
    if wasHandshaking {
      let end = handshakeEnd
      handshakeEnd = nil
      _ = end?(.failure(ConnectError(.tls, text)))
    }
    // The alert that says why is already with the channel below.
    below.closeAfterFlush()
  }
}

extension TLSChannel: TurnEnd {
  package func turnEnded() {
    awaitsTurnEnd = false
    if phase == .open, wantsReading, !held.isEmpty, !awaitsAdmission { processHeld() }
    switch phase {
    case .handshaking, .closed: return
    case .open: encrypt()
    case .closing:
      encrypt()
      engine.sayGoodbye()
      below.closeAfterFlush()
    }
  }

  private func encrypt() {
    guard holdsBuffer else { return }
    holdsBuffer = false
    let failure = unsafe outbound.withUnsentBytes { unsafe engine.write($0) }
    outbound.consumed(outbound.count, keeping: below.eventLoop.limits.pooledBufferBytes)
    below.eventLoop.giveBuffer(outbound)
    outbound = OutboundBuffer()
    if let failure, phase == .open { fail(failure) }
  }
}

extension TLSChannel: ByteChannelHandler {
  package func received(_ bytes: borrowing RawSpan) {
    guard phase == .handshaking || phase == .open else { return }
    unsafe bytes.withUnsafeBytes { arrived in
      guard held.isEmpty, !awaitsAdmission else {
        unsafe held.append(contentsOf: arrived)
        if !awaitsAdmission, wantsReading || phase == .handshaking { processHeld() }
        return
      }
      unsafe process(arrived)
    }
  }

  package func drained() {
    if phase == .open, outbound.isEmpty { handler?.drained() }
  }

  package func peerFinished() -> Bool {
    // A stream cut off below without TLS's own end is over. After a proper goodbye the owner may still be writing.
    peerSaidGoodbye && mayWriteAfterPeer && phase == .open
  }

  package func closed(_ reason: ChannelCloseReason) {
    let wasHandshaking = phase == .handshaking
    phase = .closed
    deadline?.cancel()
    deadline = nil
    outbound = OutboundBuffer()
    if wasHandshaking {
      let end = handshakeEnd
      handshakeEnd = nil
      _ = end?(.failure(ConnectError(.tls, "the peer closed during the TLS handshake")))
      return
    }
    let told = handler
    handler = nil
    told?.closed(ending ?? truncated(reason))
  }

  private func truncated(_ reason: ChannelCloseReason) -> ChannelCloseReason {
    reason == .endOfStream && !peerSaidGoodbye ? .failure("the peer ended the stream without TLS's own end") : reason
  }
}
