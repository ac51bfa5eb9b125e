package import MartletVocabulary

/// One end of a WebSocket after the handshake (RFC 6455): bytes in, events and answering bytes out.
///
/// Both ends are the same machine in another role. It never acts: the shell hands it what arrived and the time, sends
/// what it appended to `output`, and follows the transport events. One timer at `nextDeadline` is enough.
package struct WebSocketMachine {
  /// Where the connection stands.
  package enum Phase: Equatable, Sendable {
    /// Messages go both ways. Next: `closing`, `ended`.
    case open
    /// Our close is sent; messages still arrive. Next: `ended`.
    case closing(deadline: Instant)
    /// Both closes are through and this client waits for the server to end the transport. Next: `ended`.
    case waitingForTransport(deadline: Instant)
    /// Nothing more is read or sent.
    case ended
  }

  package private(set) var phase = Phase.open
  package let limits: WebSocketLimits
  package let isServer: Bool
  /// The negotiated compression, if any. A fan-out that splices compressed pieces asks whether it is there.
  package let compression: (any WebSocketCompression)?

  /// The longest message that is accepted at present.
  private var messageBytes: Int
  private var masks: (any RandomNumberGenerator)?
  private var reader: WebSocketFrameReader
  /// The frame whose payload is arriving.
  private var frame: WebSocketFrameHeader?
  private var payloadSeen = 0
  private var control: [UInt8] = []
  private var assembly = MessageAssembly()
  private var scratch: [UInt8] = []
  private var reportedClose = false
  private var lastHeard: Instant
  private var pingSentAt: Instant?

  /// A machine for a connection whose handshake ended at `now`.
  package init(
    role: WebSocketRole, limits: WebSocketLimits = WebSocketLimits(), compression: (any WebSocketCompression)? = nil,
    at now: Instant
  ) {
    switch role {
    case .server:
      isServer = true
      masks = nil
    case .client(let masks):
      isServer = false
      self.masks = masks
    }
    self.limits = limits
    messageBytes = limits.messageBytes
    self.compression = compression
    reader = WebSocketFrameReader(expectsMask: isServer, allowsCompression: compression != nil)
    lastHeard = now
  }

  /// Whether messages may be sent: the one check a fan-out makes per event.
  package var canSend: Bool { phase == .open }

  // MARK: Receiving

  /// Accepts no message of more bytes from now on, nor more than the limits allow; nil leaves it to them.
  package mutating func bound(messageBytes: Int?) {
    self.messageBytes = min(messageBytes ?? .max, limits.messageBytes)
  }

  /// Takes bytes as they arrived, all at once. An owner that answers messages uses `receive(_:from:)`.
  package mutating func receive(
    _ bytes: borrowing RawSpan, at now: Instant, output: inout [UInt8], events: inout [WebSocketEvent]
  ) {
    var index = 0
    repeat {
      receive(bytes, from: &index, at: now, output: &output, events: &events)
    } while index < bytes.byteCount
  }

  /// Takes bytes from `index` on up to the end of the first message, and moves `index` past it. What the owner answers
  /// to a message is so sent before the answer to a close that follows it.
  package mutating func receive(
    _ bytes: borrowing RawSpan, from index: inout Int, at now: Instant, output: inout [UInt8],
    events: inout [WebSocketEvent]
  ) {
    lastHeard = now
    pingSentAt = nil
    do throws(WebSocketFailure) {
      while index < bytes.byteCount {
        switch phase {
        case .open, .closing: break
        case .waitingForTransport, .ended:
          index = bytes.byteCount
          return
        }
        if frame == nil {
          let complete = try reader.push(byte(bytes, at: index))
          index += 1
          if complete { try begin(reader.header) }
        } else if let frame {
          let end = min(bytes.byteCount, index + frame.length - payloadSeen)
          try take(bytes, index..<end, of: frame)
          index = end
        }
        if let frame, payloadSeen == frame.length {
          self.frame = nil
          try finish(frame, at: now, output: &output, events: &events)
          if frame.isFinal, !frame.opcode.isControl { return }
        }
      }
    } catch {
      index = bytes.byteCount
      fail(error, output: &output, events: &events)
    }
  }

  private mutating func begin(_ header: WebSocketFrameHeader) throws(WebSocketFailure) {
    payloadSeen = 0
    frame = header
    if header.opcode.isControl {
      control.removeAll(keepingCapacity: true)
    } else {
      try assembly.begin(header, limit: messageBytes)
    }
  }

  private mutating func take(
    _ bytes: borrowing RawSpan, _ range: Range<Int>, of header: WebSocketFrameHeader
  ) throws(WebSocketFailure) {
    let offset = payloadSeen
    payloadSeen += range.count
    if header.opcode.isControl {
      let start = control.count
      append(bytes, range, to: &control)
      if header.isMasked { applyMask(header.mask, offset: offset, to: &control, from: start) }
    } else if assembly.isCompressed {
      scratch.removeAll(keepingCapacity: true)
      append(bytes, range, to: &scratch)
      if header.isMasked { applyMask(header.mask, offset: offset, to: &scratch, from: 0) }
      try assembly.decompress(scratch, endsMessage: false, with: compression, limit: messageBytes)
      scratch = []
    } else {
      let start = assembly.payload.count
      append(bytes, range, to: &assembly.payload)
      if header.isMasked { applyMask(header.mask, offset: offset, to: &assembly.payload, from: start) }
      try assembly.checkText()
    }
  }

  private mutating func finish(
    _ header: WebSocketFrameHeader, at now: Instant, output: inout [UInt8], events: inout [WebSocketEvent]
  ) throws(WebSocketFailure) {
    switch header.opcode {
    case .continuation, .text, .binary:
      guard header.isFinal else { return }
      let isText = assembly.isText
      let message = try assembly.end(with: compression, limit: messageBytes)
      events.append(isText ? .text(message) : .binary(message))
    case .ping:
      if phase == .open { appendFrame(.pong, control, to: &output) }
      events.append(.ping(control))
    case .pong:
      events.append(.pong(control))
    case .close:
      try finishClose(at: now, output: &output, events: &events)
    }
  }

  private mutating func finishClose(
    at now: Instant, output: inout [UInt8], events: inout [WebSocketEvent]
  ) throws(WebSocketFailure) {
    var closure = WebSocketClosure(code: .noStatus)
    if control.count == 1 { throw WebSocketFailure(.closeTooShort) }
    if control.count >= 2 {
      closure.code = WebSocketCloseCode(rawValue: UInt16(control[0]) << 8 | UInt16(control[1]))
      guard closure.code.mayBeSent else { throw WebSocketFailure(.closeCode) }
      let reason = [UInt8](control[2...])
      guard isUTF8(reason) else { throw WebSocketFailure(.invalidText) }
      closure.reason = String(decoding: reason, as: UTF8.self)
    }
    if phase == .open {
      // The answer carries the peer's code and no reason of its own.
      appendFrame(.close, [UInt8](control.prefix(2)), to: &output)
    }
    report(closure, &events)
    if isServer {
      phase = .ended
      events.append(.closeTransport)
    } else {
      // The server closes first, so that the waiting state of TCP stays with it (section 7.1.1).
      phase = .waitingForTransport(deadline: now + limits.closeTimeout)
    }
  }

  /// The transport ended by itself.
  package mutating func transportEnded(events: inout [WebSocketEvent]) {
    phase = .ended
    report(WebSocketClosure(code: .abnormal, failure: WebSocketFailure(.transportLost)), &events)
  }

  private mutating func fail(
    _ failure: WebSocketFailure, output: inout [UInt8], events: inout [WebSocketEvent]
  ) {
    let code = failure.closeCode ?? .protocolError
    if phase == .open { appendClose(code, failure.description, to: &output) }
    phase = .ended
    report(WebSocketClosure(code: code, reason: failure.description, failure: failure), &events)
    events.append(.closeTransport)
  }

  private mutating func report(_ closure: WebSocketClosure, _ events: inout [WebSocketEvent]) {
    assembly = MessageAssembly()
    scratch = []
    if reportedClose { return }
    reportedClose = true
    events.append(.closed(closure))
  }

  // MARK: Sending

  /// Sends a text message, compressed when that was negotiated and pays. Ignored unless `canSend`.
  package mutating func send(text: [UInt8], to output: inout [UInt8]) {
    send(.text, text, to: &output)
  }

  /// Sends a binary message; otherwise as `send(text:to:)`.
  package mutating func send(binary: [UInt8], to output: inout [UInt8]) {
    send(.binary, binary, to: &output)
  }

  private mutating func send(_ opcode: WebSocketOpcode, _ payload: [UInt8], to output: inout [UInt8]) {
    guard canSend else { return }
    guard let compression, payload.count >= limits.compressionThreshold else {
      return appendFrame(opcode, payload, to: &output)
    }
    scratch.removeAll(keepingCapacity: true)
    compression.compress(payload, into: &scratch)
    // The sync flush's tail is implied (RFC 7692 section 7.2.1).
    scratch.removeLast(min(4, scratch.count))
    if scratch.isEmpty { scratch.append(0) }
    let mask = nextMask()
    WebSocketFrame.append(opcode, scratch, compressed: true, mask: mask, to: &output)
    // Idle connections keep no buffers: ten thousand of them would hold their last message for nothing.
    scratch = []
  }

  /// Sends a ping of at most 125 bytes. Ignored unless `canSend`.
  package mutating func ping(_ payload: [UInt8] = [], to output: inout [UInt8]) {
    precondition(payload.count <= 125, "a ping carries at most 125 bytes")
    if canSend { appendFrame(.ping, payload, to: &output) }
  }

  /// Starts the close handshake. The reason is cut to 123 bytes on a character boundary. Ignored unless `canSend`.
  package mutating func close(_ code: WebSocketCloseCode, reason: String = "", at now: Instant, output: inout [UInt8]) {
    guard canSend else { return }
    appendClose(code, reason, to: &output)
    phase = .closing(deadline: now + limits.closeTimeout)
  }

  private mutating func appendClose(_ code: WebSocketCloseCode, _ reason: String, to output: inout [UInt8]) {
    precondition(code.mayBeSent, "a close frame carries only codes that may be sent")
    var payload = [UInt8(truncatingIfNeeded: code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)]
    payload.append(contentsOf: truncatedUTF8(reason, to: 123))
    appendFrame(.close, payload, to: &output)
  }

  private mutating func appendFrame(_ opcode: WebSocketOpcode, _ payload: [UInt8], to output: inout [UInt8]) {
    WebSocketFrame.append(opcode, payload, mask: nextMask(), to: &output)
  }

  private mutating func nextMask() -> UInt32? {
    guard var generator = masks else { return nil }
    let mask = UInt32(truncatingIfNeeded: generator.next())
    masks = generator
    return mask
  }

  // MARK: Time

  /// When `reachedDeadline` wants to be called; it may move later meanwhile, then that call does nothing.
  package var nextDeadline: Instant? {
    switch phase {
    case .open:
      if let pingSentAt { return pingSentAt + limits.pongTimeout }
      return limits.pingInterval.map { lastHeard + $0 }
    case .closing(let deadline), .waitingForTransport(let deadline): return deadline
    case .ended: return nil
    }
  }

  /// Whether a ping has been sent and not been answered.
  package var awaitsPong: Bool { phase == .open && pingSentAt != nil }

  /// Gives a peer more time for its pong: it is still reading what was sent before the ping.
  package mutating func prolongPong(at now: Instant) {
    if pingSentAt != nil { pingSentAt = now }
  }

  /// Time has passed: pings a silent peer, gives up a dead one.
  package mutating func reachedDeadline(
    at now: Instant, output: inout [UInt8], events: inout [WebSocketEvent]
  ) {
    guard let deadline = nextDeadline, now >= deadline else { return }
    switch phase {
    case .open where pingSentAt == nil:
      pingSentAt = now
      appendFrame(.ping, [], to: &output)
    case .open: drop(.pongDeadline, &events)
    case .closing: drop(.closeDeadline, &events)
    case .waitingForTransport: drop(.closeDeadline, &events)
    case .ended: break
    }
  }

  private mutating func drop(_ rule: WebSocketFailure.Rule, _ events: inout [WebSocketEvent]) {
    phase = .ended
    report(WebSocketClosure(code: .abnormal, failure: WebSocketFailure(rule)), &events)
    events.append(.abortTransport)
  }
}
