internal import CMartletSystem
internal import MartletLoop
package import MartletRuntime
internal import MartletVocabulary

/// One TCP connection on a loop.
///
/// It holds no buffer while idle: reads go through the loop's scratch, and the outgoing buffer is borrowed from the
/// loop's pool from the first byte written until the last is sent. All bytes of a turn leave in one `send` at its end;
/// what the kernel does not take waits for writability.
///
/// Confined to its loop. The loop holds the channel while it is open, and the channel its handler until `closed`.
package final class SocketChannel: ByteChannel {
  enum Phase: UInt8 {
    /// Reading and writing. Next: any of the others.
    case open
    /// The end was asked for; what is pending goes first. Next: `lingering`, `closing`, `closed`.
    case flushing
    /// Our side is shut; waiting for the peer's end. Next: `closing`, `closed`.
    case lingering
    /// Over, and no longer watched; the descriptor waits until the loop closes it. Next: `closed`.
    case closing
    /// The descriptor is gone.
    case closed
  }

  let eventLoop: EpollLoop
  let descriptor: Int32
  private var address: SocketAddress
  private var handler: (any ByteChannelHandler)?
  private var accounting: ConnectionAccounting?
  private var token: WatchToken?
  private var outbound = OutboundBuffer()
  /// Bytes that the system has taken since the connection began.
  private var sentBytes = 0
  private var deadline: LoopTimer?
  private var readingAtDeadline: PeerReading?
  /// What `closed` will say when the end has come; for ends that take more than one step.
  private var ending: ChannelCloseReason?
  private var phase = Phase.open
  private var interest: Readiness = []
  private var holdsBuffer = false
  private var awaitsTurnEnd = false
  private var awaitsWritable = false
  private var wantsReading = true
  private var peerEnded = false

  /// Takes over a connected, non-blocking descriptor. On the loop.
  init(_ descriptor: Int32, peer: SocketAddress, on loop: EpollLoop, accounting: ConnectionAccounting? = nil) {
    self.descriptor = descriptor
    self.accounting = accounting
    eventLoop = loop
    address = peer
  }

  /// Begins to read on behalf of `handler`. False when the loop cannot watch the descriptor; it is closed then, and
  /// the handler is not called.
  func start(handler: any ByteChannelHandler) -> Bool {
    // What came before was a preamble with a handler of its own.
    if token != nil {
      self.handler = handler
      return phase == .open
    }
    interest = wantsReading ? .readable : []
    guard let token = eventLoop.watch(descriptor, for: interest, handler: self) else {
      release()
      return false
    }
    self.token = token
    self.handler = handler
    eventLoop.closings.opened()
    // An owner may have written before it was known.
    if !outbound.isEmpty { registerForTurnEnd() }
    return true
  }

  /// Closes a connection that was not accepted, before it was given to what serves it.
  func refuse() {
    handler = nil
    release()
  }

  /// Takes the address that a proxy names for the connection. False when a limit stands against the client there; the
  /// connection is to be aborted then.
  func comes(from client: SocketAddress) -> Bool {
    if let accounting {
      guard accounting.moved(from: address, to: client) else { return false }
    }
    address = client
    return true
  }

  /// Gives the handler bytes that arrived before it.
  func deliver(_ bytes: [UInt8]) {
    if phase == .open, !bytes.isEmpty { unsafe handler?.received(bytes.span.bytes) }
  }

  package var loop: any Loop { eventLoop }
  package var peer: String { address.description }
  package var peerIsLoopback: Bool { address.isLoopback }
  package var pendingBytes: Int { outbound.count }

  package var reading: PeerReading? {
    guard phase != .closed else { return nil }
    let held = martlet_unacknowledged(descriptor)
    guard held >= 0 else { return nil }
    return PeerReading(acknowledged: sentBytes - held, unread: held + outbound.count)
  }

  /// Memory held for outgoing bytes now; none while idle.
  var bufferCapacity: Int { outbound.bytes.capacity }

  package var isReading: Bool {
    get { wantsReading }
    set {
      guard newValue != wantsReading else { return }
      wantsReading = newValue
      updateInterest()
    }
  }

  // MARK: Writing

  package func write(_ body: (inout OutboundBuffer) -> Void) {
    guard phase == .open else {
      // The stream is ending: what is written now goes nowhere, as on any closed stream.
      var nowhere = OutboundBuffer()
      body(&nowhere)
      return
    }
    if !holdsBuffer {
      outbound = eventLoop.takeBuffer()
      holdsBuffer = true
    }
    body(&outbound)
    if !awaitsWritable || outbound.count > eventLoop.limits.pendingBytes { registerForTurnEnd() }
  }

  private func registerForTurnEnd() {
    guard !awaitsTurnEnd else { return }
    awaitsTurnEnd = true
    eventLoop.atEndOfTurn(self)
  }

  private func flush() {
    var interruptions = 0
    while !outbound.isEmpty {
      let sent = unsafe outbound.withUnsentBytes { unsafe eventLoop.calls.send(descriptor, $0) }
      eventLoop.ownCounters.addSend(of: sent)
      if sent > 0 {
        sentBytes += sent
        outbound.consumed(sent, keeping: eventLoop.limits.pooledBufferBytes)
        // A short write means the kernel's buffer is full: asking again would only answer EAGAIN.
        if !outbound.isEmpty {
          if phase == .flushing { armDeadline(eventLoop.limits.flushTime) }
          return waitForWritability()
        }
      } else if sent == SystemAnswer.interrupted, interruptions < 8 {
        interruptions += 1
      } else if sent == 0 || sent == SystemAnswer.again || sent == SystemAnswer.interrupted {
        return waitForWritability()
      } else {
        return finish(.failure(SocketError.text(of: Int32(truncatingIfNeeded: 0 - sent))))
      }
    }
    flushed()
  }

  private func waitForWritability() {
    guard outbound.count <= eventLoop.limits.pendingBytes else { return tooSlow() }
    awaitsWritable = true
    updateInterest()
  }

  private func tooSlow() {
    _ = martlet_reset_on_close(descriptor)
    finish(.failure("the peer left \(outbound.count) bytes unread, more than the limit"))
  }

  private func flushed() {
    if holdsBuffer {
      holdsBuffer = false
      eventLoop.giveBuffer(outbound)
      outbound = OutboundBuffer()
    }
    let wasBlocked = awaitsWritable
    awaitsWritable = false
    updateInterest()
    switch phase {
    case .open: if wasBlocked || !wantsReading { handler?.drained() }
    case .flushing: shutDownWriting()
    case .lingering, .closing, .closed: break
    }
  }

  // MARK: Ending

  package func closeAfterFlush() {
    guard phase == .open else { return }
    endAfterFlush(.local)
  }

  private func endAfterFlush(_ reason: ChannelCloseReason) {
    phase = .flushing
    ending = reason
    armDeadline(eventLoop.limits.flushTime)
    updateInterest()
    // Bytes written in this turn leave first, in their one send.
    if !awaitsWritable { registerForTurnEnd() }
  }

  private func shutDownWriting() {
    if peerEnded { return finish(ending ?? .local) }
    phase = .lingering
    armDeadline(eventLoop.limits.lingerTime)
    _ = martlet_shutdown_writing(descriptor)
    updateInterest()
  }

  private func armDeadline(_ time: Duration) {
    deadline?.cancel()
    readingAtDeadline = reading
    deadline = eventLoop.schedule(at: eventLoop.now + time) { [weak self] in self?.abandon() }
  }

  private func abandon() {
    guard !isOver else { return }
    // A slow reader empties the kernel's buffer long before the kernel takes more of what is pending here.
    if phase == .flushing, reading?.isMoving(since: readingAtDeadline) == true {
      return armDeadline(eventLoop.limits.flushTime)
    }
    // A lingering peer still receives what the kernel has of ours: that must not be reset. One that took nothing for so
    // long while we flushed is given up.
    if phase == .flushing { _ = martlet_reset_on_close(descriptor) }
    finish(ending ?? .local)
  }

  private var isOver: Bool { phase == .closing || phase == .closed }

  package func abort() {
    guard !isOver else { return }
    // A lingering peer may still be reading what the kernel has of ours: a reset would take that away.
    if phase != .lingering { _ = martlet_reset_on_close(descriptor) }
    ending = ending ?? .local
    if eventLoop.closings.admit(self) {
      release()
      registerForTurnEnd()
    } else {
      waitToClose()
    }
  }

  private func finish(_ reason: ChannelCloseReason) {
    guard !isOver else { return }
    if eventLoop.closings.admit(self) {
      release()
      ending = nil
      tellClosed(reason)
    } else {
      ending = reason
      waitToClose()
    }
  }

  private func waitToClose() {
    phase = .closing
    letGo()
  }

  private func tellClosed(_ reason: ChannelCloseReason) {
    let told = handler
    handler = nil
    told?.closed(reason)
  }

  /// Gives back everything the system and the loop lent.
  private func release() {
    phase = .closed
    letGo()
    eventLoop.calls.close(descriptor)
    accounting?.left(address)
    accounting = nil
  }

  /// Gives back all but the descriptor, and the place among the connections that goes with it.
  private func letGo() {
    deadline?.cancel()
    deadline = nil
    if let token { eventLoop.unwatch(token, descriptor) }
    token = nil
    outbound = OutboundBuffer()
    holdsBuffer = false
  }

  // MARK: Interest

  private func updateInterest() {
    guard let token, !isOver else { return }
    // Numbers, because sets of options are built by code that does not know their type, which costs a microsecond.
    var wanted: UInt32 = 0
    if awaitsWritable { wanted |= Readiness.writable.rawValue }
    switch phase {
    case .open: if wantsReading, !peerEnded { wanted |= Readiness.readable.rawValue }
    case .flushing, .lingering: if !peerEnded { wanted |= Readiness.readable.rawValue }
    case .closing, .closed: break
    }
    guard wanted != interest.rawValue else { return }
    interest = Readiness(rawValue: wanted)
    eventLoop.rewatch(token, descriptor, for: interest)
  }
}

extension SocketChannel: TurnEnd, LoopOwned {
  package func turnEnded() {
    awaitsTurnEnd = false
    switch phase {
    case .closing: break
    case .closed:
      if let ending {
        self.ending = nil
        tellClosed(ending)
      }
    case .open, .flushing, .lingering:
      if awaitsWritable {
        if outbound.count > eventLoop.limits.pendingBytes { tooSlow() }
      } else if !outbound.isEmpty || phase == .flushing {
        flush()
      }
    }
  }

  package func loopStops() {
    abort()
  }
}

extension SocketChannel: ClosingConnection {
  package func closes() {
    release()
    let reason = ending ?? .local
    ending = nil
    tellClosed(reason)
  }
}

extension SocketChannel: ReadinessHandler {
  package func ready(_ readiness: Readiness) {
    if readiness.contains(.failed) {
      let error = martlet_socket_error(descriptor)
      return finish(.failure(SocketError.text(of: 0 &- error)))
    }
    if readiness.contains(.writable) { flush() }
    guard !isOver else { return }
    if readiness.contains(.readable), interest.contains(.readable) {
      read()
    } else if readiness.contains(.hungUp) {
      // Both sides are shut and nothing waits to be read by us: the system would report this every turn.
      finish(ending ?? .endOfStream)
    }
  }

  private func read() {
    let count = unsafe eventLoop.calls.receive(descriptor, into: eventLoop.scratch.memory)
    eventLoop.ownCounters.receives += 1
    if count > 0 {
      // After our own end what still arrives is read and dropped, so that the peer sees no reset.
      if phase == .open, let handler {
        eventLoop.scratch.show(count) { handler.received($0) }
      }
    } else if count == 0 {
      receivedEnd()
    } else if count != SystemAnswer.again, count != SystemAnswer.interrupted {
      finish(.failure(SocketError.text(of: Int32(truncatingIfNeeded: 0 - count))))
    }
  }

  private func receivedEnd() {
    peerEnded = true
    switch phase {
    case .open:
      if handler?.peerFinished() == true {
        updateInterest()
      } else if phase == .open {
        if outbound.isEmpty {
          finish(.endOfStream)
        } else {
          endAfterFlush(.endOfStream)
        }
      }
    case .flushing:
      updateInterest()
    case .lingering:
      finish(ending ?? .local)
    case .closing, .closed:
      break
    }
  }
}
