import MartletJSON
package import MartletRuntime
import MartletVocabulary
import MartletWireProtocols

/// One subscription by HTTP: a request whose response does not end, as parts of a multipart body or as server-sent
/// events. It is over with its connection; the error then says so. Confined to its loop.
package final class HTTPSubscription {
  /// The response's body, by its media type.
  private enum Body {
    case multipart(MultipartSubscription.Reader)
    case events(EventStreamSubscription.Reader)
    /// One response, or what the server says against the request.
    case whole([UInt8])
  }

  private let request: OperationRequest
  private let feed: SubscriptionFeed
  private let endpoint: GraphQLEndpoint
  private let configuration: ConnectionConfiguration
  private let environment: ClientEnvironment
  private let http: any HTTPExchanging
  private var loop: any Loop { environment.loop }
  private var question: CredentialQuestion?
  private var exchange: HTTPExchange?
  private var head: HTTPExchangeHead?
  private var body = Body.whole([])
  private var hasRefreshed = false
  private var isOver = false
  private var silence: LoopTimer?
  /// The server shows that it is alive, so that silence means that it is not.
  private var expectsHeartbeats = false
  /// Keeps this alive while it runs.
  private var own: HTTPSubscription?

  package init(
    _ request: OperationRequest, _ feed: SubscriptionFeed, _ endpoint: GraphQLEndpoint,
    _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment, _ http: any HTTPExchanging
  ) {
    self.request = request
    self.feed = feed
    feed.core.bound(by: configuration.buffer)
    self.endpoint = endpoint
    self.configuration = configuration
    self.environment = environment
    self.http = http
  }

  package func start() {
    guard !isOver, !feed.isFinished else { return }
    own = self
    ask(.request)
  }

  /// The consumer left.
  package func cancel() {
    over()
  }

  /// A consumer who was too slow has room again.
  package func goOn() {
    exchange?.isPaused = false
  }

  // MARK: Asking

  private func ask(_ reason: CredentialReason) {
    guard let provider = configuration.credentials else { return send(Credentials()) }
    question = CredentialQuestion(provider, reason, timeout: configuration.credentialTimeout, environment) {
      [weak self] answer in
      guard let self, !isOver else { return }
      question = nil
      switch answer {
      case .success(let credentials): send(credentials)
      case .failure(let error): fail(GraphQLClientError(.connectFailed, "no credentials", underlying: error))
      }
    }
  }

  private func send(_ credentials: Credentials) {
    let given = configuration.headers + request.headers + credentials.headers
    var checked = HTTPHeaders()
    do throws(GraphQLClientError) {
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
    call.body = request.wire.serialized()
    call.totalTime = nil
    call.idleTime = nil
    call.bodyBytes = nil
    call.connectTime = configuration.openTimeout
    head = nil
    body = .whole([])
    listen(configuration.requestTimeout, "no answer")
    exchange = http.start(call, on: loop, handler: self)
  }

  /// Ends the subscription after so much silence.
  private func listen(_ time: Duration, _ what: String) {
    silence?.cancel()
    silence = loop.schedule(at: loop.now + time) { [weak self] in
      self?.fail(GraphQLClientError(.connectionLost, what))
    }
  }

  // MARK: Ending

  private func fail(_ error: GraphQLClientError) {
    guard !isOver else { return }
    over()
    feed.finish(throwing: error)
  }

  private func complete() {
    guard !isOver else { return }
    over()
    feed.finish()
  }

  private func over() {
    isOver = true
    question?.cancel()
    silence?.cancel()
    exchange?.cancel()
    exchange = nil
    own = nil
  }
}

extension HTTPSubscription: HTTPExchangeHandler {
  package func received(head: HTTPExchangeHead) {
    guard !isOver else { return }
    self.head = head
    silence?.cancel()
    guard head.status == 200, let type = head["content-type"] else {
      return listen(configuration.requestTimeout, "no end")
    }
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
      listen(configuration.requestTimeout, "no end")
    }
  }

  package func received(body bytes: borrowing RawSpan) {
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
      if !messages.isEmpty { feed.activate() }
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
      feed.activate()
      if messages.isEmpty { expectsHeartbeats = true }
      for message in messages {
        switch message {
        case .next(let payload): deliver(payload)
        case .complete: complete()
        }
      }
      if let broken { fail(GraphQLClientError(.protocolViolation, broken.description)) }
    }
    if !isOver, expectsHeartbeats {
      listen(configuration.keepAliveTimeout, "the server has been silent for \(configuration.keepAliveTimeout)")
    }
  }

  private func follow(_ message: MultipartSubscription.Message) {
    switch message {
    case .heartbeat: expectsHeartbeats = true
    case .payload(let payload): deliver(payload)
    case .failed(let errors): fail(Self.refusal((try? JSONValue(parsing: errors))?.array ?? [], status: nil))
    case .completed: complete()
    }
  }

  private func deliver(_ payload: [UInt8]) {
    guard !isOver else { return }
    if feed.yield(OperationPayload(bytes: payload)) { exchange?.isPaused = true }
    if feed.isFinished { over() }
  }

  package func ended(_ error: HTTPExchangeError?) {
    guard !isOver else { return }
    exchange = nil
    if let error {
      let code: GraphQLClientError.Code = head == nil ? .connectFailed : .connectionLost
      return fail(GraphQLClientError(code, error.message, underlying: error))
    }
    switch body {
    case .whole(let all): answered(all)
    case .multipart, .events:
      fail(GraphQLClientError(.connectionLost, "the server ended the response before the subscription had completed"))
    }
  }

  /// The server answered with one response instead of a stream.
  private func answered(_ all: [UInt8]) {
    let status = head?.status ?? 0
    let said = (try? JSONValue(parsing: all)) ?? .null
    let errors = said["errors"]?.array ?? []
    if status == 401 || status == 403 {
      if !hasRefreshed, configuration.credentials != nil {
        hasRefreshed = true
        return ask(.refused(code: status))
      }
      return fail(
        GraphQLClientError(.unauthorized, errors.first?["message"]?.string ?? "refused", status: status, errors: errors)
      )
    }
    if !errors.isEmpty, said["data"]?.isNull != false { return fail(Self.refusal(errors, status: status)) }
    guard status == 200, said["data"] != nil else {
      return fail(GraphQLClientError(.httpStatus, "HTTP \(status): no subscription by HTTP here", status: status))
    }
    feed.activate()
    deliver(all)
    complete()
  }

  private static func refusal(_ errors: [JSONValue], status: Int?) -> GraphQLClientError {
    GraphQLClientError(
      .operationFailed, errors.first?["message"]?.string ?? "the server gave no reason", status: status, errors: errors)
  }
}

/// How subscriptions by HTTP are asked for.
public enum SubscriptionMediaType: Sendable, Hashable {
  /// `multipart/mixed;subscriptionSpec="1.0"`, which most gateways speak.
  case multipart
  /// `text/event-stream`, in the distinct connections mode.
  case eventStream

  var accept: String {
    switch self {
    case .multipart: #"multipart/mixed;subscriptionSpec="1.0", application/json"#
    case .eventStream: "text/event-stream, application/json"
    }
  }
}
