package import MartletRuntime
internal import MartletVocabulary

/// One end of an imaginary stream. Confined to its loop; the wire itself is the executor's.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class SimulatedChannel: ByteChannel, TurnEnd {
  let home: SimulatedLoop
  package let peer: String
  package var loop: any Loop { home }
  package var peerIsLoopback: Bool { true }
  var handler: (any ByteChannelHandler)?
  /// Both ends and their link hold each other until the end has closed.
  var link: SimulatedLink?
  weak var other: SimulatedChannel?

  package private(set) var isClosed = false
  private var outbound = OutboundBuffer()
  private var hadPending = false
  private var isFinishing = false
  private var hasSentEnd = false
  private var canDeliver = false
  /// Pieces that have arrived and are not read yet; nil is the peer's end of the stream.
  private var inbound: [[UInt8]?] = []
  private var peerHasFinished = false
  /// Bytes the other end has sent and this end has not read.
  private var underWay = 0
  /// Pieces keep their order: none arrives before the one in front of it.
  private var lastArrival = Instant.zero
  /// Held back by a partition.
  private var held: [[UInt8]?] = []

  init(home: SimulatedLoop, peer: String) {
    self.home = home
    self.peer = peer
  }

  package var pendingBytes: Int { outbound.count }

  package var isReading = true {
    didSet { if isReading, !oldValue { scheduleReading() } }
  }

  // MARK: Sending

  package func write(_ body: (inout OutboundBuffer) -> Void) {
    guard !isClosed else { return }
    body(&outbound)
    home.atEndOfTurn(self)
  }

  package func closeAfterFlush() {
    guard !isClosed else { return }
    isFinishing = true
    home.atEndOfTurn(self)
  }

  package func abort() {
    guard !isClosed else { return }
    let bound = LoopBound(self, on: home)
    home.execute { bound.value.end(.local) }
    tellOther(.failure("connection reset"))
  }

  package func turnEnded() { flush() }

  private func flush() {
    guard !isClosed, let other, let link else { return }
    while !outbound.isEmpty {
      let room = link.network.conditions.windowBytes - other.underWay
      guard room > 0 else { break }
      let longest = min(outbound.count, room, max(1, link.network.conditions.chunkBytes))
      let length = 1 + Int(link.network.executor.random.next() % UInt64(longest))
      var piece: [UInt8] = []
      unsafe outbound.withUnsentBytes { bytes in
        // The slice lies inside the unsent bytes: `length` is at most their count.
        piece = unsafe [UInt8](bytes[0..<length])
      }
      outbound.consumed(length)
      let (passes, thenCut) = link.passing(length)
      if passes > 0 { other.arrives(Array(piece.prefix(passes))) }
      if thenCut { return link.cut() }
    }
    if !outbound.isEmpty {
      hadPending = true
    } else if hadPending {
      hadPending = false
      handler?.drained()
    }
    if outbound.isEmpty, isFinishing, !hasSentEnd {
      hasSentEnd = true
      other.arrives(nil)
      end(.local)
    }
  }

  // MARK: The wire

  private func arrives(_ piece: [UInt8]?) {
    underWay += piece?.count ?? 0
    guard let link, !link.isHalfOpen else { return }
    if link.network.conditions.isPartitioned {
      held.append(piece)
      return
    }
    send(piece)
  }

  private func send(_ piece: [UInt8]?) {
    guard let link else { return }
    let arrival = max(home.now + link.network.delay(), lastArrival)
    lastArrival = arrival
    home.schedule(at: arrival) { [weak self] in
      guard let self, !isClosed, let link = self.link, !link.isHalfOpen else { return }
      if link.network.conditions.isPartitioned { return held.append(piece) }
      inbound.append(piece)
      read()
    }
  }

  func healed() {
    let waiting = held
    held = []
    for piece in waiting { send(piece) }
  }

  func beginDelivery() {
    canDeliver = true
    scheduleReading()
  }

  private func scheduleReading() {
    let bound = LoopBound(self, on: home)
    home.execute { bound.value.read() }
  }

  private func read() {
    while canDeliver, isReading, !isClosed, !inbound.isEmpty {
      guard let piece = inbound.removeFirst() else {
        if handler?.peerFinished() == true { continue }
        peerHasFinished = true
        continue
      }
      underWay -= piece.count
      // The span is of the array above, which lives until the call returns.
      unsafe handler?.received(piece.span.bytes)
      other?.roomAppeared()
    }
    if peerHasFinished, inbound.isEmpty, !isClosed {
      flush()
      end(.endOfStream)
    }
  }

  private func roomAppeared() {
    guard !outbound.isEmpty else { return }
    let bound = LoopBound(self, on: home)
    home.execute { bound.value.flush() }
  }

  private func tellOther(_ reason: ChannelCloseReason) {
    guard let other, let link, !link.isHalfOpen, !link.network.conditions.isPartitioned else { return }
    let bound = LoopBound(other, on: other.home)
    other.home.schedule(at: home.now + link.network.delay()) { bound.value.end(reason) }
  }

  func end(_ reason: ChannelCloseReason) {
    guard !isClosed else { return }
    isClosed = true
    let told = handler
    handler = nil
    inbound = []
    held = []
    let ended = link
    link = nil
    told?.closed(reason)
    ended?.endClosed()
  }
}
