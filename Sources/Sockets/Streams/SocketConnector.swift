internal import CMartletSystem
internal import MartletLoop
package import MartletRuntime
internal import MartletVocabulary

/// Opens TCP and TLS connections. Every address of a name is tried in turn until one answers or the time is up.
package struct SocketConnector: ByteConnector {
  package struct Options: Sendable {
    /// Time for all of it: name, connection and handshake.
    package var connectTime = Duration.seconds(10)
    /// Time for one address when there are others to try; a dead route does not use up the whole time.
    package var addressTime = Duration.seconds(3)
    /// Idle seconds before the kernel probes a silent peer; nil leaves keep-alive off.
    package var keepAliveSeconds: Int32? = 60
    /// What to check servers against. Nil: the system's authorities.
    package var tls: TLSClientContext?

    package init() {}
  }

  package let options: Options
  private let resolver: Resolver

  package init(options: Options = Options(), resolver: Resolver = .shared) {
    self.options = options
    self.resolver = resolver
  }

  package func connect(
    to endpoint: ConnectionTarget, on loop: any Loop, handler: any ByteChannelHandler,
    completion: @escaping (Result<any ByteChannel, ConnectError>) -> Void
  ) -> ConnectAttempt {
    guard let loop = loop as? EpollLoop else {
      preconditionFailure("sockets connect on the loops of this module")
    }
    precondition(loop.isCurrent, "connections are opened on their loop")
    let attempt = OutgoingAttempt(endpoint, on: loop, options: options, handler: handler, completion: completion)
    let bound = LoopBound(attempt, on: loop)
    resolver.resolve(endpoint.host, port: endpoint.port) { answer in
      loop.execute { bound.value.resolved(answer) }
    }
    return ConnectAttempt { attempt.cancel() }
  }
}

/// One attempt to connect, confined to its loop.
private final class OutgoingAttempt: ReadinessHandler, LoopOwned {
  private let endpoint: ConnectionTarget
  private let loop: EpollLoop
  private let options: SocketConnector.Options
  private var handler: (any ByteChannelHandler)?
  private var completion: ((Result<any ByteChannel, ConnectError>) -> Void)?
  private var addresses: ArraySlice<SocketAddress> = []
  private var current: (descriptor: Int32, token: WatchToken, address: SocketAddress)?
  private var handshake: TLSChannel?
  private var lastError = ConnectError(.unreachable, "no address")
  private var deadline: LoopTimer?
  private var addressDeadline: LoopTimer?

  init(
    _ endpoint: ConnectionTarget, on loop: EpollLoop, options: SocketConnector.Options, handler: any ByteChannelHandler,
    completion: @escaping (Result<any ByteChannel, ConnectError>) -> Void
  ) {
    self.endpoint = endpoint
    self.loop = loop
    self.options = options
    self.handler = handler
    self.completion = completion
    deadline = loop.schedule(at: loop.now + options.connectTime) { [weak self] in
      self?.fail(ConnectError(.timeout, "connecting to \(endpoint.host):\(endpoint.port) took too long"))
    }
  }

  func resolved(_ answer: Resolver.Answer) {
    guard completion != nil else { return }
    switch answer {
    case .success(let found):
      addresses = found[...]
      tryNext()
    case .failure(let failure):
      fail(ConnectError(.resolution, failure.message))
    }
  }

  private func tryNext() {
    dropCurrent()
    guard let address = addresses.popFirst() else { return fail(lastError) }
    var system = address.system
    var inProgress: Int32 = 0
    let descriptor = unsafe martlet_connect(&system, &inProgress)
    guard descriptor >= 0 else {
      lastError = error(0 &- descriptor, address)
      return tryNext()
    }
    guard inProgress != 0 else { return connected(descriptor, address) }
    guard let token = loop.watch(descriptor, for: .writable, handler: self) else {
      loop.calls.close(descriptor)
      return fail(ConnectError(.other, "no descriptors to wait with"))
    }
    current = (descriptor, token, address)
    guard !addresses.isEmpty else { return }
    addressDeadline = loop.schedule(at: loop.now + options.addressTime) { [weak self] in
      self?.lastError = ConnectError(.timeout, "\(address) did not answer")
      self?.tryNext()
    }
  }

  func ready(_ readiness: Readiness) {
    guard let current else { return }
    let result = martlet_socket_error(current.descriptor)
    guard result == 0 else {
      lastError = error(0 &- result, current.address)
      return tryNext()
    }
    loop.unwatch(current.token, current.descriptor)
    self.current = nil
    connected(current.descriptor, current.address)
  }

  private func error(_ code: Int32, _ address: SocketAddress) -> ConnectError {
    let refused: Int32 = 111
    return ConnectError(code == refused ? .refused : .unreachable, "\(address): \(SocketError.text(of: code))")
  }

  private func connected(_ descriptor: Int32, _ address: SocketAddress) {
    addressDeadline?.cancel()
    guard let handler else { return loop.calls.close(descriptor) }
    _ = martlet_set_no_delay(descriptor)
    if let seconds = options.keepAliveSeconds { _ = martlet_set_keep_alive(descriptor, seconds) }
    let channel = SocketChannel(descriptor, peer: address, on: loop)
    guard endpoint.isSecure else {
      guard channel.start(handler: handler) else { return fail(ConnectError(.other, "no descriptors to wait with")) }
      return succeed(channel)
    }
    handshake = TLSChannel.connect(
      channel, host: endpoint.host, port: endpoint.port, context: options.tls ?? .system, handler: handler
    ) { [self] result in
      handshake = nil
      switch result {
      case .success(let secure): succeed(secure)
      case .failure(let error): fail(error)
      }
    }
  }

  private func succeed(_ channel: any ByteChannel) {
    let told = completion
    finish()
    told?(.success(channel))
  }

  private func fail(_ error: ConnectError) {
    let told = completion
    finish()
    told?(.failure(error))
  }

  func cancel() {
    guard completion != nil else { return }
    finish()
  }

  func loopStops() {
    cancel()
  }

  private func finish() {
    completion = nil
    handler = nil
    deadline?.cancel()
    dropCurrent()
    let unfinished = handshake
    handshake = nil
    unfinished?.abandonHandshake()
  }

  private func dropCurrent() {
    addressDeadline?.cancel()
    guard let current else { return }
    self.current = nil
    loop.unwatch(current.token, current.descriptor)
    loop.calls.close(current.descriptor)
  }
}
