internal import CMartletCurl
internal import MartletRuntime
internal import MartletVocabulary

/// A stream that libcurl has opened, as a channel: libcurl encrypts and decrypts, the loop says when there is something
/// to do. All bytes of a turn leave at its end.
///
/// Confined to its loop. The loop holds the channel while it is open, and the channel its handler until `closed`.
final class CurlChannel: ByteChannel {
  private enum Phase {
    /// Reading and writing. Next: any of the others.
    case open
    /// The end was asked for; what is pending goes first. Next: `closed`.
    case flushing
    case closed
  }

  /// Bytes read at once, and the times in one turn: a full record of TLS, and a turn that others get a share of.
  private static let readBytes = 16_384
  private static let readsPerTurn = 8
  /// Bytes offered at once.
  private static let sendBytes = 65_536

  private let line: CurlLine
  private let descriptorLoop: any DescriptorLoop
  let descriptor: Int32
  private var token: WatchToken?
  private var handler: (any ByteChannelHandler)?
  let peer: String
  let peerIsLoopback: Bool
  private var outbound = OutboundBuffer()
  /// What is being sent. Never appended to, so that it stays where it is: TLS wants to be offered the same memory
  /// again.
  private var sending: [UInt8] = []
  private var sent = 0
  private var phase = Phase.open
  private var interest = Readiness.readable
  private var awaitsTurnEnd = false
  private var awaitsWritable = false
  private var wantsReading = true
  private var awaitsMoreReading = false
  private var peerEnded = false
  private var deadline: LoopTimer?
  /// What `closed` will say.
  private var ending: ChannelCloseReason?

  /// Takes over the stream of a line. Nil when the loop cannot watch its descriptor.
  init?(_ line: CurlLine, handler: any ByteChannelHandler) {
    self.line = line
    self.handler = handler
    descriptorLoop = line.driver.loop
    descriptor = unsafe martlet_curl_get_socket(line.handle.pointer)
    let address = line.peerAddress
    peer = address.text
    peerIsLoopback = address.isLoopback
    // libcurl has no use for it until it closes it.
    line.driver.letGo(of: descriptor)
    guard descriptor >= 0, let token = descriptorLoop.watch(descriptor, for: interest, handler: self) else {
      return nil
    }
    self.token = token
  }

  var loop: any Loop { descriptorLoop }
  var pendingBytes: Int { outbound.count + sending.count - sent }

  var isReading: Bool {
    get { wantsReading }
    set {
      let begins = newValue && !wantsReading
      wantsReading = newValue
      updateInterest()
      // What was decrypted already makes no descriptor ready.
      if begins { readLater() }
    }
  }

  // MARK: Writing

  func write(_ body: (inout OutboundBuffer) -> Void) {
    guard phase == .open else {
      // The stream is ending: what is written now goes nowhere, as on any closed stream.
      var nowhere = OutboundBuffer()
      body(&nowhere)
      return
    }
    body(&outbound)
    registerForTurnEnd()
  }

  private func registerForTurnEnd() {
    guard !awaitsTurnEnd else { return }
    awaitsTurnEnd = true
    descriptorLoop.atEndOfTurn(self)
  }

  private func flush() {
    while pendingBytes > 0 {
      if sent == sending.count {
        sending = outbound.bytes
        sent = 0
        outbound = OutboundBuffer()
      }
      let count = min(sending.count - sent, Self.sendBytes)
      var taken = 0
      // The slice lies inside the array, which is not changed while any of it is unsent.
      let code = unsafe sending.withUnsafeBytes { bytes in
        unsafe curl_easy_send(line.handle.pointer, bytes.baseAddress.map { unsafe $0 + sent }, count, &taken)
      }
      if code == CURLE_AGAIN || (code == CURLE_OK && taken == 0) { return waitForWritability() }
      guard code == CURLE_OK else { return finish(.failure(line.handle.text(of: code))) }
      sent += min(taken, count)
      if phase == .flushing { armDeadline() }
    }
    flushed()
  }

  private func waitForWritability() {
    guard pendingBytes <= line.options.pendingBytes else { return tooSlow() }
    awaitsWritable = true
    updateInterest()
  }

  private func tooSlow() {
    finish(.failure("the peer left \(pendingBytes) bytes unread, more than the limit"))
  }

  private func flushed() {
    sending = []
    sent = 0
    let wasBlocked = awaitsWritable
    awaitsWritable = false
    updateInterest()
    switch phase {
    case .open: if wasBlocked || !wantsReading { handler?.drained() }
    case .flushing: finish(ending ?? .local)
    case .closed: break
    }
  }

  // MARK: Ending

  func closeAfterFlush() {
    guard phase == .open else { return }
    endAfterFlush(.local)
  }

  private func endAfterFlush(_ reason: ChannelCloseReason) {
    phase = .flushing
    ending = reason
    armDeadline()
    updateInterest()
    // Bytes written in this turn leave first.
    if !awaitsWritable { registerForTurnEnd() }
  }

  private func armDeadline() {
    deadline?.cancel()
    deadline = descriptorLoop.schedule(at: descriptorLoop.now + line.options.flushTime) { [weak self] in
      guard let self else { return }
      finish(ending ?? .local)
    }
  }

  func abort() {
    guard phase != .closed else { return }
    release()
    ending = ending ?? .local
    registerForTurnEnd()
  }

  private func finish(_ reason: ChannelCloseReason) {
    guard phase != .closed else { return }
    release()
    ending = nil
    tellClosed(reason)
  }

  private func tellClosed(_ reason: ChannelCloseReason) {
    let told = handler
    handler = nil
    told?.closed(reason)
  }

  /// Gives back everything the loop and libcurl lent.
  private func release() {
    phase = .closed
    deadline?.cancel()
    deadline = nil
    if let token { descriptorLoop.unwatch(token, descriptor) }
    token = nil
    line.close()
    outbound = OutboundBuffer()
    sending = []
    sent = 0
  }

  // MARK: Interest

  private func updateInterest() {
    guard let token, phase != .closed else { return }
    var wanted: Readiness = []
    if awaitsWritable { wanted.insert(.writable) }
    if wantsReading, !peerEnded { wanted.insert(.readable) }
    guard wanted != interest else { return }
    interest = wanted
    descriptorLoop.rewatch(token, descriptor, for: wanted)
  }
}

extension CurlChannel: TurnEnd {
  func turnEnded() {
    awaitsTurnEnd = false
    switch phase {
    case .closed:
      guard let ending else { return }
      self.ending = nil
      tellClosed(ending)
    case .open, .flushing:
      if awaitsWritable {
        if pendingBytes > line.options.pendingBytes { tooSlow() }
      } else if pendingBytes > 0 || phase == .flushing {
        flush()
      }
    }
  }
}

extension CurlChannel: ReadinessHandler {
  func ready(_ readiness: Readiness) {
    if readiness.contains(.writable) { flush() }
    guard phase != .closed else { return }
    if interest.contains(.readable) {
      // libcurl says what is wrong, after what still came.
      if !readiness.isDisjoint(with: [.readable, .failed, .hungUp]) { read() }
    } else if readiness.contains(.failed) {
      finish(.failure("the connection failed"))
    } else if readiness.contains(.hungUp) {
      // Both sides are shut and nothing is to be read: the system would report this every turn.
      finish(ending ?? .endOfStream)
    }
  }

  private func readLater() {
    guard !awaitsMoreReading else { return }
    awaitsMoreReading = true
    let bound = LoopBound(self, on: descriptorLoop)
    descriptorLoop.execute {
      bound.value.awaitsMoreReading = false
      bound.value.read()
    }
  }

  private func read() {
    for _ in 0..<Self.readsPerTurn {
      guard phase != .closed, !peerEnded, wantsReading || phase == .flushing else { return }
      var count = 0
      var code = CURLE_OK
      // Shown to the handler inside the call, while the memory is there.
      unsafe withUnsafeTemporaryAllocation(byteCount: Self.readBytes, alignment: 16) { memory in
        code = unsafe curl_easy_recv(line.handle.pointer, memory.baseAddress, memory.count, &count)
        guard code == CURLE_OK, count > 0, count <= memory.count, phase == .open, let start = memory.baseAddress
        else { return }
        handler?.received(unsafe RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: count))
      }
      if code == CURLE_AGAIN { return }
      guard code == CURLE_OK else { return finish(.failure(line.handle.text(of: code))) }
      if count == 0 { return receivedEnd() }
    }
    readLater()
  }

  private func receivedEnd() {
    peerEnded = true
    switch phase {
    case .open:
      if handler?.peerFinished() == true {
        updateInterest()
      } else if phase == .open {
        if pendingBytes == 0 { finish(.endOfStream) } else { endAfterFlush(.endOfStream) }
      }
    case .flushing: updateInterest()
    case .closed: break
    }
  }
}

extension CurlLine {
  /// The other end's address.
  var peerAddress: (text: String, isLoopback: Bool) {
    var text: UnsafeMutableRawPointer?
    var port = 0
    _ = unsafe martlet_curl_get_pointer(handle.pointer, CURLINFO_PRIMARY_IP, &text)
    _ = unsafe martlet_curl_get_long(handle.pointer, CURLINFO_PRIMARY_PORT, &port)
    guard let text = unsafe text else { return ("unknown", false) }
    // libcurl's own, ended with a zero, and there as long as the handle.
    let address = unsafe String(cString: text.assumingMemoryBound(to: CChar.self))
    let isIPv6 = address.utf8.contains(UInt8(ascii: ":"))
    return (
      isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)",
      address == "::1" || address.utf8.starts(with: "127.".utf8) || address.utf8.starts(with: "::ffff:127.".utf8)
    )
  }
}
