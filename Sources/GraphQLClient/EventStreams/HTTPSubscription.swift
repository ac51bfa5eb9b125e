import MartletGraphQLClientWire
import MartletHTTPWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// One subscription by HTTP: a request whose response does not end, as parts of a multipart body or as server-sent
/// events. A lost connection ends it with an error that carries its place, or is made again if the configuration says
/// so. Confined to its loop.
final class HTTPSubscription: StreamOwner {
  /// The response's body, by its media type.
  private enum Body {
    case multipart(MultipartSubscription.Reader)
    case events(EventStreamSubscription.Reader)
    /// One response, or what the server says against the request.
    case whole([UInt8])
  }

  private let subscriber: HTTPSubscriber
  private let endpoint: GraphQLEndpoint
  private let configuration: ConnectionConfiguration
  private let loop: any Loop
  private let calendar: @Sendable () -> Int64
  private let http: any HTTPExchanging
  private let stream: StreamAttempts
  private var attempts: ConnectionAttempts { stream.attempts }
  private var exchange: HTTPExchange?
  private var head: HTTPExchangeHead?
  private var body = Body.whole([])
  private var isOver = false
  /// The consumer has no room.
  private(set) var isHeld = false
  /// The server shows that it is alive, so that silence means that it is not.
  private var expectsHeartbeats = false
  private let ended: () -> Void

  /// - Parameter ended: called once, when nothing more happens here.
  init(
    _ request: OperationRequest, _ feed: SubscriptionFeed, _ endpoint: GraphQLEndpoint,
    _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment, _ http: any HTTPExchanging,
    _ events: ConnectionEvents, ended: @escaping () -> Void
  ) {
    self.ended = ended
    subscriber = HTTPSubscriber(request, feed, configuration)
    self.endpoint = endpoint
    self.configuration = configuration
    loop = environment.loop
    calendar = environment.calendar
    self.http = http
    stream = StreamAttempts(configuration, environment, events)
    stream.owner = self
  }

  func start() {
    attempts.need()
  }

  /// The consumer left.
  func cancel() {
    if !isOver { over() }
  }

  /// A consumer that was too slow has room again.
  func goOn() {
    isHeld = false
    exchange?.isPaused = false
    listenForHeartbeats()
    stream.hasRoom()
  }

  private func listenForHeartbeats() {
    guard !isOver, exchange != nil, expectsHeartbeats else { return }
    stream.listen(configuration.keepAliveTimeout, "the server has been silent for \(configuration.keepAliveTimeout)")
  }

  // MARK: Asking

  func open(with credentials: Credentials) {
    let body = subscriber.wire.serialized()
    var given = configuration.headers + subscriber.request.headers + credentials.headers
    var checked = HTTPHeaders()
    do throws(GraphQLClientError) {
      if let aws = credentials.aws {
        given += try configuration.signature(aws, of: body, to: endpoint, at: calendar())
      }
      try checked.append(checking: given)
    } catch {
      return fail(error)
    }
    var call = HTTPExchangeRequest("POST", url: endpoint.httpURL)
    call.headers =
      [
        (name: "Accept", value: configuration.subscriptionMediaType.accept),
        (name: "Content-Type", value: "application/json"),
      ] + given
    call.body = body
    call.totalTime = nil
    call.idleTime = nil
    call.bodyBytes = nil
    call.connectTime = configuration.openTimeout
    head = nil
    self.body = .whole([])
    expectsHeartbeats = false
    stream.follow(credentials)
    stream.listen(configuration.requestTimeout, "no answer")
    exchange = http.start(call, on: loop, handler: self)
    exchange?.isPaused = isHeld
  }

  // MARK: Another connection

  var isNeeded: Bool { !isOver }

  var isReplaceable: Bool { configuration.resumesHTTPSubscriptions || subscriber.canResume }

  func reconnect(because reason: String) { subscriber.reconnect(because: reason) }

  // MARK: Ending

  /// The client has left.
  func shutDown() {
    guard !isOver else { return }
    over()
    subscriber.feed.core.move(to: .finished(.cancelled))
  }

  /// Ends it with an error that carries its place.
  func fail(_ error: GraphQLClientError) {
    guard !isOver else { return }
    over()
    subscriber.feed.finish(throwing: subscriber.placed(error))
  }

  private func complete() {
    guard !isOver else { return }
    over()
    subscriber.feed.finish()
  }

  func letGo() {
    stream.stop()
    exchange?.cancel()
    exchange = nil
  }

  private func over() {
    isOver = true
    letGo()
    _ = attempts.shutDown()
    ended()
  }
}

extension HTTPSubscription: HTTPExchangeHandler {
  func received(head: HTTPExchangeHead) {
    guard !isOver else { return }
    self.head = head
    guard head.status == 200, let type = head["content-type"] else {
      return stream.listen(configuration.requestTimeout, "no end")
    }
    guard stream.begin() else { return }
    if type.lowercased().hasPrefix("multipart/mixed") {
      do throws(MultipartSubscription.Failure) {
        var limits = MultipartLimits()
        limits.partBytes = configuration.messageBytes
        body = .multipart(try MultipartSubscription.Reader(contentType: type, limits: limits))
      } catch {
        fail(GraphQLClientError(.protocolViolation, error.description))
      }
    } else if type.lowercased().hasPrefix("text/event-stream") {
      var limits = EventStreamLimits()
      limits.eventBytes = configuration.messageBytes
      body = .events(EventStreamSubscription.Reader(limits: limits))
    } else {
      stream.listen(configuration.requestTimeout, "no end")
    }
  }

  func received(body bytes: borrowing RawSpan) {
    guard !isOver else { return }
    let piece = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    switch body {
    case .whole(var all):
      all += piece
      guard all.count <= configuration.messageBytes else {
        return fail(GraphQLClientError(.responseTooLarge, "the answer is longer than the limit"))
      }
      body = .whole(all)
    case .multipart(var reader):
      var messages: [MultipartSubscription.Message] = []
      var broken: MultipartSubscription.Failure?
      do throws(MultipartSubscription.Failure) {
        try reader.receive(piece, messages: &messages)
      } catch {
        broken = error
      }
      body = .multipart(reader)
      if !messages.isEmpty { activate() }
      for message in messages { follow(message) }
      if let broken { fail(GraphQLClientError(.protocolViolation, broken.description)) }
    case .events(var reader):
      var messages: [EventStreamSubscription.Message] = []
      var broken: EventStreamFailure?
      do throws(EventStreamFailure) {
        try reader.receive(piece, messages: &messages)
      } catch {
        broken = error
      }
      body = .events(reader)
      if let retry = reader.retry { attempts.serverPauses(for: .milliseconds(retry)) }
      activate()
      if messages.isEmpty { expectsHeartbeats = true }
      for message in messages {
        switch message {
        case .next(let payload): deliver(payload)
        case .complete:
          // After an error that ended the connection it says nothing more.
          if exchange != nil { complete() }
        }
      }
      if let broken { fail(GraphQLClientError(.protocolViolation, broken.description)) }
    }
    listenForHeartbeats()
  }

  private func activate() {
    guard !isOver, exchange != nil else { return }
    // The first byte shows that the credentials were accepted, and nothing more.
    attempts.credentialsAccepted()
    subscriber.activate()
  }

  private func follow(_ message: MultipartSubscription.Message) {
    guard exchange != nil else { return }
    switch message {
    case .heartbeat: expectsHeartbeats = true
    case .payload(let payload): deliver(payload)
    case .failed(let text):
      let errors = (try? JSONValue(parsing: text))?.array ?? []
      if let end = HTTPSubscriber.streamEnd(errors) { return serverEnds(end) }
      fail(HTTPSubscriber.refusal(errors, status: nil))
    case .completed: complete()
    }
  }

  private func deliver(_ payload: [UInt8]) {
    guard !isOver, exchange != nil else { return }
    switch subscriber.take(payload) {
    case .noted: break
    case .kept: attempts.progressed()
    case .full:
      attempts.progressed()
      isHeld = true
      exchange?.isPaused = true
      stream.stopListening()
    case .serverEnds(let end): return serverEnds(end)
    }
    if subscriber.feed.isFinished { over() }
  }

  private func serverEnds(_ end: HTTPSubscriber.StreamEnd) {
    switch end {
    case .passing(let error): stream.lose(error)
    case .credentials(let error):
      // The provider is asked at the next attempt, and again should the server refuse what it returns.
      if attempts.canRefresh, subscriber.isServed, isReplaceable {
        stream.lose(error, isAllowed: true)
      } else {
        fail(error)
      }
    }
  }

  func ended(_ error: HTTPExchangeError?) {
    guard !isOver else { return }
    exchange = nil
    if let error {
      return stream.lose(error, head == nil ? .connectFailed : .connectionLost)
    }
    switch body {
    case .whole(let all): answered(all)
    case .multipart, .events:
      stream.lose(
        GraphQLClientError(.connectionLost, "the server ended the response before the subscription had completed"))
    }
  }

  /// The server answered with one response instead of a stream.
  private func answered(_ all: [UInt8]) {
    let status = head?.status ?? 0
    let said = (try? JSONValue(parsing: all, limits: .held(all))) ?? .null
    let errors = said["errors"]?.array ?? []
    if status == 401 || status == 403 {
      return stream.refuse(status, errors.first?["message"]?.string ?? "refused", errors)
    }
    if HTTPSubscriber.mayPass(status, errors) {
      return stream.lose(
        GraphQLClientError(.httpStatus, "HTTP \(status)", status: status, errors: errors), retryAfter: retryAfter)
    }
    if !errors.isEmpty, said["data"]?.isNull != false {
      return fail(HTTPSubscriber.refusal(errors, status: status))
    }
    guard status == 200, said["data"] != nil else {
      let text = "\(endpoint.displayURL) answered HTTP \(status): no subscription over HTTP is served there"
      return fail(GraphQLClientError(.httpStatus, text, status: status))
    }
    subscriber.activate()
    _ = subscriber.take(all)
    complete()
  }

  /// The pause that the server asked for.
  private var retryAfter: Duration? {
    head?["retry-after"].flatMap { RetryAfter.pause($0, now: calendar()) }
  }
}
