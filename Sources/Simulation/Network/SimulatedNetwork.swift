package import MartletRuntime
internal import MartletVocabulary

/// An imaginary network between the loops of one executor: it splits, delays, cuts, swallows and refuses.
///
/// `@unchecked Sendable` holds because it is touched only inside the executor's pump, or before it runs.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class SimulatedNetwork: ByteConnector, @unchecked Sendable {
  /// How the wire behaves; changed at any moment.
  package struct Conditions: Sendable {
    /// Pieces a write arrives in are at most this long; the seed chooses each length.
    package var chunkBytes = 4_096
    /// One way, per piece.
    package var delay: ClosedRange<Duration> = .microseconds(50) ... .milliseconds(2)
    /// Chance that a piece is the last of its stream, in a million.
    package var cutsPerMillion = 0
    /// Bytes under way towards a reader before the writer's bytes stay pending.
    package var windowBytes = 65_536
    /// Nothing arrives and nothing connects; what was sent arrives when it ends.
    package var isPartitioned = false
    /// Connections are refused.
    package var refuses = false
    /// How long an attempt during a partition takes to fail.
    package var connectTime = Duration.seconds(10)
    package init() {}
  }

  package let executor: SimulatedExecutor
  package var conditions: Conditions {
    didSet { if oldValue.isPartitioned, !conditions.isPartitioned { for link in links { link.healed() } } }
  }
  private var listeners: [Int: SimulatedListener] = [:]
  /// Streams that are open, oldest first.
  package private(set) var links: [SimulatedLink] = []
  /// Streams opened so far.
  package private(set) var linkCount = 0

  package init(_ executor: SimulatedExecutor, conditions: Conditions = Conditions()) {
    self.executor = executor
    self.conditions = conditions
  }

  /// Listens on `port` (a free one for zero); streams are dealt out to `loops` in turn. The acceptor runs on the
  /// stream's own loop; nil refuses the stream.
  package func listen(
    port: Int = 0, on loops: [SimulatedLoop],
    acceptor: @escaping @Sendable (any ByteChannel) -> (any ByteChannelHandler)?
  ) -> SimulatedListener {
    var chosen = port
    if chosen == 0 { chosen = 40_000 + listeners.count }
    let listener = SimulatedListener(port: chosen, loops: loops, acceptor: acceptor)
    listener.stopping = { [weak self] in self?.listeners[chosen] = nil }
    listeners[chosen] = listener
    return listener
  }

  package func connect(
    to endpoint: ConnectionTarget, on loop: any Loop, handler: any ByteChannelHandler,
    completion: @escaping (Result<any ByteChannel, ConnectError>) -> Void
  ) -> ConnectAttempt {
    guard let loop = loop as? SimulatedLoop else { preconditionFailure("an imaginary wire needs an imaginary loop") }
    let wait = conditions.isPartitioned ? conditions.connectTime : delay()
    let timer = loop.schedule(at: loop.now + wait) { [self] in
      if conditions.isPartitioned {
        return completion(.failure(ConnectError(.timeout, "no answer from \(endpoint.host):\(endpoint.port)")))
      }
      guard !conditions.refuses, let listener = listeners[endpoint.port] else {
        return completion(.failure(ConnectError(.refused, "connection refused by \(endpoint.host):\(endpoint.port)")))
      }
      linkCount += 1
      let link = SimulatedLink(network: self, number: linkCount, client: loop, server: listener.nextLoop())
      links.append(link)
      link.client.handler = handler
      executor.record("connect \(link.number)")
      let server = LoopBound(link.server, on: link.server.home)
      link.server.home.execute {
        let channel = server.value
        guard !channel.isClosed else { return }
        guard let accepted = listener.acceptor(channel) else { return channel.abort() }
        channel.handler = accepted
        channel.beginDelivery()
      }
      completion(.success(link.client))
      link.client.beginDelivery()
    }
    return ConnectAttempt { timer.cancel() }
  }

  func delay() -> Duration {
    let low = conditions.delay.lowerBound.wholeNanoseconds
    let width = max(0, conditions.delay.upperBound.wholeNanoseconds - low)
    return .nanoseconds(low + (width == 0 ? 0 : Int64(executor.random.next() % UInt64(width + 1))))
  }

  /// Ends every stream at once; both ends get a failure.
  package func cutAll() {
    for link in links { link.cut() }
  }

  func remove(_ link: SimulatedLink) {
    links.removeAll { $0 === link }
  }
}

/// A port of the imaginary network.
///
/// `@unchecked Sendable` as for the network.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class SimulatedListener: ByteListener, @unchecked Sendable {
  package let port: Int
  let loops: [SimulatedLoop]
  let acceptor: @Sendable (any ByteChannel) -> (any ByteChannelHandler)?
  var stopping: () -> Void = {}
  private var next = 0

  init(
    port: Int, loops: [SimulatedLoop], acceptor: @escaping @Sendable (any ByteChannel) -> (any ByteChannelHandler)?
  ) {
    precondition(!loops.isEmpty, "a listener needs a loop to deal streams to")
    self.port = port
    self.loops = loops
    self.acceptor = acceptor
  }

  func nextLoop() -> SimulatedLoop {
    defer { next += 1 }
    return loops[next % loops.count]
  }

  package func stop() { stopping() }
}
