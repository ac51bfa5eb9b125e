package import MartletRuntime
internal import MartletVocabulary
package import MartletWire

/// Opens WebSockets: connects, shakes hands by HTTP/1.1, and gives the stream to a `WebSocketChannel`.
package struct WebSocketConnector {
  package struct Request {
    package var endpoint: ConnectionTarget
    /// Path and query.
    package var target: String
    package var subprotocols: [String] = []
    /// More header fields, such as Authorization or Origin.
    package var headers = HTTPHeaders()
    /// Offers compression when set.
    package var deflate: WebSocketDeflateSettings?
    package var limits = WebSocketLimits()
    /// Time for all of it: name, connection, TLS and the opening handshake.
    package var openTime = Duration.seconds(15)

    package init(endpoint: ConnectionTarget, target: String) {
      self.endpoint = endpoint
      self.target = target
    }

    /// The Host header: the port is left out where it is the scheme's own.
    var host: String {
      let isUsual = endpoint.port == (endpoint.isSecure ? 443 : 80)
      let name = endpoint.host.utf8.contains(UInt8(ascii: ":")) ? "[\(endpoint.host)]" : endpoint.host
      return isUsual ? name : "\(name):\(endpoint.port)"
    }
  }

  /// Why no WebSocket came about.
  package enum Failure: Error, CustomStringConvertible {
    case connect(ConnectError)
    /// The server answered, but did not upgrade, or not as it has to.
    case refused(WebSocketUpgradeError)
    /// The answer broke HTTP.
    case http(HTTPFailure)
    case closed(ChannelCloseReason)
    case timeout

    package var description: String {
      switch self {
      case .connect(let error): error.description
      case .refused(let error): error.description
      case .http(let failure): "\(failure)"
      case .closed(let reason): "the stream ended during the opening handshake: \(reason)"
      case .timeout: "the opening handshake took too long"
      }
    }
  }

  package typealias Opened = (channel: WebSocketChannel, subprotocol: String?)

  private let connector: any ByteConnector
  private let pool: ZlibPool
  private let random: any RandomNumberGenerator & Sendable

  /// - Parameters:
  ///   - pool: where compression streams wait between messages.
  ///   - random: draws keys and masks; unpredictable in production (`SystemChance`).
  package init(
    _ connector: any ByteConnector, pool: ZlibPool, random: any RandomNumberGenerator & Sendable
  ) {
    self.connector = connector
    self.pool = pool
    self.random = random
  }

  /// Opens a WebSocket. `completion` runs on `loop` exactly once, before any call of `handler`; not at all when the
  /// attempt was cancelled.
  package func open(
    _ request: Request, on loop: any Loop, handler: any WebSocketHandler,
    completion: @escaping (Result<Opened, Failure>) -> Void
  ) -> ConnectAttempt {
    let opening = WebSocketOpening(
      request, on: loop, pool: pool, random: random, handler: handler, completion: completion)
    opening.start(with: connector)
    return ConnectAttempt { opening.cancel() }
  }
}

/// One opening handshake; afterwards it passes the stream on. Confined to its loop.
private final class WebSocketOpening: ByteChannelHandler {
  private let request: WebSocketConnector.Request
  private let loop: any Loop
  private let pool: ZlibPool
  private let random: any RandomNumberGenerator & Sendable
  private let handshake: WebSocketClientHandshake
  private var handler: (any WebSocketHandler)?
  private var completion: ((Result<WebSocketConnector.Opened, WebSocketConnector.Failure>) -> Void)?
  private var machine = HTTPClientMachine()
  private var attempt: ConnectAttempt?
  private var channel: (any ByteChannel)?
  private var open: WebSocketChannel?
  private var deadline: LoopTimer?

  init(
    _ request: WebSocketConnector.Request, on loop: any Loop, pool: ZlibPool,
    random: any RandomNumberGenerator & Sendable, handler: any WebSocketHandler,
    completion: @escaping (Result<WebSocketConnector.Opened, WebSocketConnector.Failure>) -> Void
  ) {
    self.request = request
    self.loop = loop
    self.pool = pool
    self.handler = handler
    self.completion = completion
    var keys: any RandomNumberGenerator = random
    handshake = WebSocketClientHandshake(
      host: request.host, target: request.target, subprotocols: request.subprotocols, headers: request.headers,
      deflate: request.deflate, random: &keys)
    self.random = random
  }

  func start(with connector: any ByteConnector) {
    deadline = loop.schedule(at: loop.now + request.openTime) { [weak self] in self?.fail(.timeout) }
    attempt = connector.connect(to: request.endpoint, on: loop, handler: self) { [self] result in
      attempt = nil
      switch result {
      case .success(let channel):
        self.channel = channel
        channel.write { machine.send(handshake.request, to: &$0.bytes) }
      case .failure(let error): fail(.connect(error))
      }
    }
  }

  func cancel() {
    guard completion != nil else { return }
    finish()
    channel?.abort()
  }

  private func fail(_ failure: WebSocketConnector.Failure) {
    guard let told = completion else { return }
    finish()
    channel?.abort()
    told(.failure(failure))
  }

  private func finish() {
    completion = nil
    handler = nil
    deadline?.cancel()
    attempt?.cancel()
    attempt = nil
  }

  private func upgraded(_ response: HTTPResponseHead) {
    guard let channel, let handler, let told = completion else { return }
    let agreed: WebSocketClientHandshake.Agreed
    do {
      agreed = try handshake.validate(response)
    } catch {
      return fail(.refused(error))
    }
    let compression = agreed.deflate.map { ZlibCompression($0, isServer: false, pool: pool) }
    let open = WebSocketChannel(
      channel, role: .client(masks: random), limits: request.limits, compression: compression, handler: handler)
    self.open = open
    finish()
    told(.success((open, agreed.subprotocol)))
    let rest = machine.takeUpgradedBytes()
    // The span is of the array above, which lives until the call returns.
    if !rest.isEmpty { unsafe open.received(rest.span.bytes) }
  }

  func received(_ bytes: borrowing RawSpan) {
    if let open { return open.received(bytes) }
    var events: [HTTPClientEvent] = []
    machine.receive(bytes, events: &events)
    for event in events {
      switch event {
      case .informational, .body, .responseEnded: break
      case .response(let head):
        let retryAfter = head.headers["Retry-After"]
        fail(.refused(WebSocketUpgradeError(.status, answered: head.status, retryAfter: retryAfter)))
      case .upgraded(let head): upgraded(head)
      case .failed(let failure): fail(.http(failure))
      }
    }
  }

  func drained() {
    open?.drained()
  }

  func closed(_ reason: ChannelCloseReason) {
    if let open { return open.closed(reason) }
    fail(.closed(reason))
  }
}
