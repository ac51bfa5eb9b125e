internal import CMartletSystem
package import MartletLoop
package import MartletRuntime
internal import MartletVocabulary
package import MartletWire
internal import Synchronization

/// Accepts TCP connections on one loop and deals them out to several, one after the other.
package final class SocketListener: ByteListener {
  package struct Options: Sendable {
    /// A numeric address: `127.0.0.1`, `::1`, `0.0.0.0`, `::` (which takes IPv4 peers too).
    package var address = "127.0.0.1"
    /// Zero takes a free port; `SocketListener.port` has its number.
    package var port = 0
    /// A listening socket that the process was started with, in place of one at `address` and `port`. The listener
    /// closes it.
    package var inherited: Int32?
    package var limits = ListenerLimits()
    /// Serves TLS when set.
    package var tls: TLSServerContext?
    /// Proxies that begin each connection with a header of the PROXY protocol. Connections of others are refused. Nil
    /// expects no header.
    package var proxies: [AddressRange]?

    package init(address: String = "127.0.0.1", port: Int = 0) {
      self.address = address
      self.port = port
    }
  }

  package let port: Int
  private let state: LoopBound<AcceptState>
  private let accounting: ConnectionAccounting

  /// Connections now open.
  package var connectionCount: Int { accounting.total }

  private init(port: Int, state: LoopBound<AcceptState>, accounting: ConnectionAccounting) {
    self.port = port
    self.state = state
    self.accounting = accounting
  }

  /// Binds and begins to accept on `loops[0]`; `acceptor` runs on the connection's own loop, for TLS after the
  /// handshake.
  /// - Throws: when the address is not numeric, taken, or not ours.
  package static func start(
    _ options: Options, on loops: [EpollLoop], acceptor: @escaping ChannelAcceptor
  ) throws(SocketError) -> SocketListener {
    precondition(!loops.isEmpty, "a listener needs a loop to deal connections to")
    let descriptor: Int32
    if let inherited = options.inherited {
      try InheritedSocket.take(inherited)
      descriptor = inherited
    } else {
      descriptor = try open(options)
    }
    var bound = martlet_address()
    let named = unsafe martlet_local_address(descriptor, &bound)
    let port = named < 0 ? options.port : Int(bound.port)
    let accounting = ConnectionAccounting(limits: options.limits)
    let state = AcceptState(
      descriptor: descriptor, options: options, loops: loops, accounting: accounting, acceptor: acceptor)
    let bounded = LoopBound(state, on: loops[0])
    loops[0].execute { bounded.value.start() }
    return SocketListener(port: port, state: bounded, accounting: accounting)
  }

  private static func open(_ options: Options) throws(SocketError) -> Int32 {
    guard let address = SocketAddress(options.address, port: options.port) else {
      throw SocketError(code: 22, operation: "listening address \(options.address)")
    }
    var system = address.system
    return try SocketError.check(
      unsafe martlet_listen(&system, options.limits.backlog, 0), "listen on \(address)")
  }

  package func stop() {
    let state = self.state
    state.loop.execute { state.value.stop() }
  }
}

/// The accepting side of a listener, confined to its loop.
private final class AcceptState: ReadinessHandler, LoopOwned {
  private let descriptor: Int32
  private let options: SocketListener.Options
  private let loops: [EpollLoop]
  private let accounting: ConnectionAccounting
  private let acceptor: ChannelAcceptor
  private var token: WatchToken?
  private var isStopped = false
  private var next = 0
  /// A descriptor given up for a moment when there are no others, so that the peer sees a close instead of silence.
  private var reserve: Int32
  private var paused: LoopTimer?
  private var windowStart = Instant.zero
  private var acceptedInWindow = 0

  private var loop: EpollLoop { loops[0] }
  private var limits: ListenerLimits { options.limits }

  init(
    descriptor: Int32, options: SocketListener.Options, loops: [EpollLoop], accounting: ConnectionAccounting,
    acceptor: @escaping ChannelAcceptor
  ) {
    self.descriptor = descriptor
    self.options = options
    self.loops = loops
    self.accounting = accounting
    self.acceptor = acceptor
    reserve = martlet_open_reserve()
  }

  func start() {
    guard !isStopped else { return }
    token = loop.watch(descriptor, for: .readable, handler: self)
    if token == nil { pause(limits.exhaustedPause) }
  }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    paused?.cancel()
    if let token { loop.unwatch(token, descriptor) }
    token = nil
    _ = martlet_close(descriptor)
    if reserve >= 0 { _ = martlet_close(reserve) }
  }

  func loopStops() {
    stop()
  }

  func ready(_ readiness: Readiness) {
    for _ in 0..<limits.acceptsPerTurn {
      guard token != nil, mayAcceptNow() else { return }
      let (accepted, peer) = loop.calls.accept(descriptor)
      if let peer, accepted >= 0 {
        acceptedInWindow += 1
        take(accepted, from: peer)
      } else {
        switch Int(accepted) {
        case SystemAnswer.again:
          return
        case SystemAnswer.interrupted, SystemAnswer.connectionAborted:
          continue
        case SystemAnswer.processDescriptors, SystemAnswer.systemDescriptors:
          guard refuseWithReserve() else { return pause(limits.exhaustedPause) }
        default:
          // Out of memory or buffers, or an error of the network below: none is the listener's end.
          return pause(limits.exhaustedPause)
        }
      }
    }
  }

  /// Whether the accept rate allows one more now; else accepting pauses until the next second begins.
  private func mayAcceptNow() -> Bool {
    if loop.now - windowStart >= .seconds(1) {
      windowStart = loop.now
      acceptedInWindow = 0
    }
    guard acceptedInWindow >= limits.acceptsPerSecond else { return true }
    pause(windowStart + .seconds(1) - loop.now)
    return false
  }

  private func take(_ accepted: Int32, from peer: SocketAddress) {
    guard accounting.enter(peer) else {
      loop.ownCounters.refused += 1
      loop.calls.close(accepted)
      return
    }
    loop.ownCounters.accepted += 1
    let target = loops[next]
    next = (next + 1) % loops.count
    _ = martlet_set_no_delay(accepted)
    if let seconds = limits.keepAliveSeconds { _ = martlet_set_keep_alive(accepted, seconds) }
    let options = self.options
    let (accounting, acceptor) = (self.accounting, self.acceptor)
    guard target !== loop else {
      return IncomingChannel.open(accepted, peer, on: target, options, accounting, acceptor)
    }
    target.execute { IncomingChannel.open(accepted, peer, on: target, options, accounting, acceptor) }
  }

  /// Closes the reserve, accepts with its number, closes that, and takes the reserve back. False when it did not help.
  private func refuseWithReserve() -> Bool {
    guard reserve >= 0 else {
      reserve = martlet_open_reserve()
      return false
    }
    _ = martlet_close(reserve)
    let (accepted, _) = loop.calls.accept(descriptor)
    if accepted >= 0 {
      loop.calls.close(accepted)
      loop.ownCounters.refused += 1
    }
    reserve = martlet_open_reserve()
    return accepted >= 0 && reserve >= 0
  }

  private func pause(_ time: Duration) {
    if let token { loop.unwatch(token, descriptor) }
    token = nil
    paused?.cancel()
    // Held by the loop until it fires: a paused listener is still one.
    paused = loop.schedule(at: loop.now + time) { self.start() }
  }
}

/// The first moments of an accepted connection on its own loop.
private enum IncomingChannel {
  static func open(
    _ descriptor: Int32, _ peer: SocketAddress, on loop: EpollLoop, _ options: SocketListener.Options,
    _ accounting: ConnectionAccounting, _ acceptor: @escaping ChannelAcceptor
  ) {
    let channel = SocketChannel(descriptor, peer: peer, on: loop, accounting: accounting)
    guard let proxies = options.proxies else { return begin(channel, options, acceptor) }
    guard let address = IPAddress(node: peer.description), proxies.contains(where: { $0.contains(address) }) else {
      loop.ownCounters.refused += 1
      return channel.refuse()
    }
    ProxyPreamble.await(on: channel, options.limits) { begin(channel, options, acceptor) }
  }

  private static func begin(
    _ channel: SocketChannel, _ options: SocketListener.Options, _ acceptor: @escaping ChannelAcceptor
  ) {
    if let tls = options.tls {
      TLSChannel.accept(channel, context: tls, deadline: options.limits.handshakeTime, acceptor: acceptor)
    } else if let handler = acceptor(channel) {
      _ = channel.start(handler: handler)
    } else {
      channel.refuse()
    }
  }
}
