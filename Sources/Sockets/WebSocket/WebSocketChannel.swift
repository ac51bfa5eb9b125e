package import MartletRuntime
internal import MartletVocabulary
package import MartletWire

/// The events of a WebSocket for its owner, always on the loop.
package protocol WebSocketHandler: AnyObject {
  /// A whole text message; its bytes are UTF-8.
  func received(text: [UInt8])
  func received(binary: [UInt8])
  /// The peer answered a ping.
  func receivedPong(_ payload: [UInt8])
  /// `pendingBytes` fell to zero after a turn had left some behind, or while reading is paused.
  func drained()
  /// No message follows; called exactly once, last.
  func closed(_ closure: WebSocketClosure)
}

extension WebSocketHandler {
  package func received(binary: [UInt8]) {}
  package func receivedPong(_ payload: [UInt8]) {}
  package func drained() {}
}

/// One WebSocket over a byte channel, either role, after the opening handshake: it drives the machine with bytes and
/// time. What is sent in a turn leaves in the channel's one send.
///
/// Confined to its loop. Make it the channel's handler, or pass the handler's calls on to it.
package final class WebSocketChannel {
  package let channel: any ByteChannel
  private var machine: WebSocketMachine
  private var handler: (any WebSocketHandler)?
  private var timer: LoopTimer?
  private var timerDeadline: Instant?
  /// How far the peer had read when its pong began to be awaited.
  private var readingAtPing: PeerReading?
  /// Bounds the messages taken up in a turn; a client has none.
  private let gate: MessageGate?
  private var place = MessageGate.Place()
  /// What has arrived and is not taken up, from `heldStart` on: one read of the transport at most, which is not read
  /// meanwhile.
  private var held: [UInt8] = []
  private var heldStart = 0
  private var isInLine = false
  /// How many messages the owner lets be taken up in one turn, and how many may still be in this one.
  private var share: (perTurn: Int, left: Int)?
  private var wantsReading = true
  /// Whether the transport has ended while something was held.
  private var isCutOff = false
  /// For the timer: what is written to thousands of sockets must not have weak references.
  private let loose = LooseReference<WebSocketChannel>()

  /// - Parameter gate: Bounds the messages taken up in a turn; nil takes up all of a read at once.
  package init(
    _ channel: any ByteChannel, role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(),
    compression: (any WebSocketCompression)? = nil, gate: MessageGate? = nil, handler: any WebSocketHandler
  ) {
    self.channel = channel
    self.gate = gate
    self.handler = handler
    machine = WebSocketMachine(role: role, limits: limits, compression: compression, at: channel.loop.now)
    loose.refer(to: self)
    armTimer()
  }

  deinit { loose.clear() }

  /// Whether messages may be sent.
  ///
  /// Reads the stored phase: `machine.canSend` of another module copies the whole machine, for every event of a
  /// fan-out.
  package var canSend: Bool {
    if case .open = machine.phase { true } else { false }
  }
  /// Bytes the transport has not taken yet.
  package var pendingBytes: Int { channel.pendingBytes }
  /// The negotiated compression; a fan-out that splices compressed pieces needs it.
  package var compression: (any WebSocketCompression)? { machine.compression }

  // MARK: Sending

  /// Sends a text message of UTF-8. Ignored unless `canSend`.
  package func send(text: [UInt8]) {
    guard canSend else { return }
    channel.write { machine.send(text: text, to: &$0.bytes) }
  }

  /// Sends a binary message. Ignored unless `canSend`.
  package func send(binary: [UInt8]) {
    guard canSend else { return }
    channel.write { machine.send(binary: binary, to: &$0.bytes) }
  }

  /// Lets a server append whole frames of its own making, such as a fan-out's. Ignored unless `canSend`.
  package func appendFrames(_ body: (inout OutboundBuffer) -> Void) {
    guard canSend else { return }
    precondition(machine.isServer, "a client's frames need masks, which the machine draws")
    channel.write(body)
  }

  /// Sends a ping of at most 125 bytes. Ignored unless `canSend`.
  package func ping(_ payload: [UInt8] = []) {
    guard canSend else { return }
    channel.write { machine.ping(payload, to: &$0.bytes) }
  }

  /// Starts the close handshake; `closed` follows when the peer has answered or the deadline has passed.
  package func close(_ code: WebSocketCloseCode, reason: String = "") {
    guard canSend else { return }
    let now = channel.loop.now
    channel.write { machine.close(code, reason: reason, at: now, output: &$0.bytes) }
    armTimer()
  }

  /// Drops the connection at once.
  package func abort() {
    channel.abort()
  }

  // MARK: Receiving

  /// Stops and restarts the messages. Where there is a gate, none comes while it is false, and what follows the present
  /// one is kept; else those of the last read still come.
  package var isReading: Bool {
    get { wantsReading }
    set {
      wantsReading = newValue
      guard gate != nil, !held.isEmpty else { return channel.isReading = newValue }
      awaitTurn()
    }
  }

  /// Accepts no message of more bytes from now on, nor more than the limits allow; nil leaves it to them.
  package func bound(messageBytes: Int?) { machine.bound(messageBytes: messageBytes) }

  /// Takes up `messages` in one turn at most, until the peer has brought no more than that. Where there is no gate,
  /// nothing changes.
  package func slow(to messages: Int) { share = (max(1, messages), max(1, messages)) }

  // MARK: Driving the machine

  private func follow(_ events: [WebSocketEvent]) {
    for event in events {
      switch event {
      case .text(let bytes): handler?.received(text: bytes)
      case .binary(let bytes): handler?.received(binary: bytes)
      case .ping: break
      case .pong(let payload): handler?.receivedPong(payload)
      case .closed(let closure):
        let told = handler
        handler = nil
        told?.closed(closure)
      case .closeTransport: channel.closeAfterFlush()
      case .abortTransport: channel.abort()
      }
    }
  }

  private func send(_ output: [UInt8]) {
    if !output.isEmpty { channel.write { $0.append(output) } }
  }

  /// Keeps one timer at or before the machine's deadline. A deadline that moves later costs nothing: the timer looks
  /// again when it fires.
  private func armTimer() {
    guard let deadline = machine.nextDeadline else {
      timer?.cancel()
      timer = nil
      timerDeadline = nil
      return
    }
    if let timerDeadline, timerDeadline <= deadline { return }
    timer?.cancel()
    timerDeadline = deadline
    timer = channel.loop.schedule(at: deadline) { [loose] in loose.object?.reachedTimer() }
  }

  private func reachedTimer() {
    timerDeadline = nil
    let now = channel.loop.now
    if let deadline = machine.nextDeadline, now >= deadline {
      let reading = channel.reading
      // A pong cannot overtake what was sent before the ping: a peer that reads on, however slowly, is alive.
      if machine.awaitsPong, let reading, reading.isMoving(since: readingAtPing) { machine.prolongPong(at: now) }
      readingAtPing = reading
    }
    var output: [UInt8] = []
    var events: [WebSocketEvent] = []
    machine.reachedDeadline(at: now, output: &output, events: &events)
    send(output)
    follow(events)
    armTimer()
  }
}

extension WebSocketChannel: ByteChannelHandler {
  package func received(_ bytes: borrowing RawSpan) {
    var index = 0
    if held.isEmpty, mayTake { take(bytes, from: &index) }
    guard index < bytes.byteCount else {
      if wantsReading { share = nil }
      return
    }
    // The slice lies inside the bytes: `index` is less than their count.
    unsafe bytes.withUnsafeBytes { unsafe held.append(contentsOf: $0[index...]) }
    channel.isReading = false
    awaitTurn()
  }

  /// Whether the next message may be taken up in this turn.
  private var mayTake: Bool {
    guard let gate else { return true }
    if let share, share.left == 0 { return false }
    return wantsReading && gate.mayTake(place)
  }

  private func take(_ bytes: borrowing RawSpan, from index: inout Int) {
    let now = channel.loop.now
    // Message by message, so that the owner answers a message before the machine answers a close that follows it.
    repeat {
      var output: [UInt8] = []
      var events: [WebSocketEvent] = []
      machine.receive(bytes, from: &index, at: now, output: &output, events: &events)
      send(output)
      if let gate, events.contains(where: { $0.isMessage }) {
        gate.take(&place)
        share?.left -= 1
      }
      follow(events)
    } while index < bytes.byteCount && mayTake
    armTimer()
  }

  /// Gets in line with what is held.
  private func awaitTurn() {
    guard let gate, wantsReading, !isInLine, !held.isEmpty else { return }
    isInLine = true
    // Kept alive: what arrived before the transport ended is taken up.
    gate.wait {
      self.isInLine = false
      self.takeHeld()
    }
  }

  private func takeHeld() {
    if isCutOff, !wantsReading { return end() }
    if let share { self.share?.left = share.perTurn }
    guard !held.isEmpty, mayTake else { return awaitTurn() }
    let bytes = held
    var index = heldStart
    held = []
    unsafe take(bytes.span.bytes, from: &index)
    if index < bytes.count, !isCutOff || wantsReading {
      (held, heldStart) = (bytes, index)
      channel.isReading = false
      return awaitTurn()
    }
    heldStart = 0
    if wantsReading { share = nil }
    if isCutOff { end() } else { channel.isReading = wantsReading }
  }

  package func drained() {
    handler?.drained()
  }

  package func closed(_ reason: ChannelCloseReason) {
    isCutOff = true
    // What an owner does not want now it can answer no more.
    if held.isEmpty || !wantsReading || reason == .local { end() }
  }

  private func end() {
    held = []
    var events: [WebSocketEvent] = []
    machine.transportEnded(events: &events)
    timer?.cancel()
    timer = nil
    follow(events)
    handler = nil
  }
}

extension WebSocketEvent {
  /// Whether it is a message of the peer's program.
  fileprivate var isMessage: Bool {
    switch self {
    case .text, .binary: true
    case .ping, .pong, .closed, .closeTransport, .abortTransport: false
    }
  }
}
