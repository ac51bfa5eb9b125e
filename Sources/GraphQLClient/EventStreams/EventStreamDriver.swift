import MartletGraphQLClientWire
import MartletHTTPWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// One event stream that all subscriptions of a transport share (the single connection mode of GraphQL over
/// server-sent events): reserved by `PUT`, opened by `GET`; each subscription is a `POST` that names it, and ends by
/// `DELETE`. The first subscription opens it, the last closes it. Confined to its loop.
final class EventStreamDriver: StreamOwner {
  private typealias Operation = SharedStreamOperation

  private let endpoint: GraphQLEndpoint
  private let configuration: ConnectionConfiguration
  private let loop: any Loop
  private let calendar: @Sendable () -> Int64
  private let http: any HTTPExchanging
  private let watch: StreamAttempts
  private var attempts: ConnectionAttempts { watch.attempts }
  /// Names the reserved stream.
  private var token: String?
  private var operations: [Int: Operation] = [:]
  private var requests: SharedStreamRequests
  /// Subscriptions whose `POST` waits for new credentials, and the call of the provider for them.
  private var refused: Set<Int> = []
  private var question: CredentialQuestion?
  private var reservation: WholeExchange?
  private var stream: HTTPExchange?
  private var head: HTTPExchangeHead?
  private var refusal: [UInt8] = []
  private var reader = SharedEventStream.Reader()
  private var expectsHeartbeats = false
  /// Endings of subscriptions that are on their way.
  private var endings: [Int: WholeExchange] = [:]
  private var lastEnding = 0

  init(
    _ endpoint: GraphQLEndpoint, _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment,
    _ http: any HTTPExchanging, _ events: ConnectionEvents
  ) {
    self.endpoint = endpoint
    self.configuration = configuration
    loop = environment.loop
    calendar = environment.calendar
    self.http = http
    watch = StreamAttempts(configuration, environment, events)
    requests = SharedStreamRequests(endpoint: endpoint, configuration: configuration)
    watch.owner = self
  }

  /// The token of the stream, while it is open.
  private var openToken: String? { attempts.phase == .open ? token : nil }

  // MARK: Subscriptions

  /// Starts a subscription; its number is for `cancel` and `goOn`.
  func start(_ number: Int, _ request: OperationRequest, _ feed: SubscriptionFeed) {
    guard !feed.isFinished else { return }
    operations[number] = Operation(subscriber: HTTPSubscriber(request, feed, configuration))
    if attempts.need() == .proceed, let token { post(number, token) }
  }

  /// The consumer left: the server is notified, or the whole stream is closed with its last operation.
  func cancel(_ number: Int) {
    guard let operation = operations.removeValue(forKey: number) else { return }
    operation.start?.cancel()
    refused.remove(number)
    if operations.isEmpty { return rest() }
    unpause()
    guard operation.wasSent, let token = openToken else { return }
    let separator = endpoint.target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
    var call = requests.request("DELETE", token)
    call.url += "\(separator)operationId=\(number)"
    lastEnding += 1
    let ending = lastEnding
    endings[ending] = WholeExchange(call, http, on: loop) { [weak self] _ in self?.endings[ending] = nil }
  }

  /// A consumer that was too slow has room again.
  func goOn(_ number: Int) {
    operations[number]?.isHolding = false
    unpause()
  }

  private func unpause() {
    guard !isHeld else { return }
    stream?.isPaused = false
    listenForHeartbeats()
    watch.hasRoom()
  }

  private func listenForHeartbeats() {
    guard stream != nil, expectsHeartbeats else { return }
    watch.listen(configuration.keepAliveTimeout, "the server has been silent for \(configuration.keepAliveTimeout)")
  }

  private var numbers: [Int] { operations.keys.sorted() }

  // MARK: Connecting

  func open(with credentials: Credentials) {
    guard use(credentials) else { return }
    reservation = WholeExchange(requests.request("PUT", nil), http, on: loop) { [weak self] result in
      guard let self else { return }
      reservation = nil
      switch result {
      case .failure(let error): watch.lose(GraphQLClientError(.connectFailed, error.message, underlying: error))
      case .success(let answer):
        // Some servers end it as they end a line.
        let token = String(decoding: answer.body.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
        guard answer.status == 201 || answer.status == 200, SharedStreamRequests.isToken(token) else {
          return refused(answer, "the server reserves no event stream")
        }
        open(token)
      }
    }
  }

  /// Whether the credentials can be sent; otherwise everything has failed.
  private func use(_ credentials: Credentials) -> Bool {
    do throws(GraphQLClientError) {
      try requests.use(credentials)
      watch.follow(credentials)
      return true
    } catch {
      fail(error)
      return false
    }
  }

  var isNeeded: Bool { !operations.isEmpty }

  var isHeld: Bool { operations.values.contains(where: \.isHolding) }

  var isReplaceable: Bool {
    configuration.resumesHTTPSubscriptions || operations.values.allSatisfy { $0.subscriber.canResume }
  }

  func reconnect(because reason: String) {
    for number in numbers { operations[number]?.subscriber.reconnect(because: reason) }
  }

  private func open(_ token: String) {
    self.token = token
    var call = requests.request("GET", token)
    call.headers.append((name: "Accept", value: SubscriptionMediaType.sharedEventStream.accept))
    call.totalTime = nil
    call.idleTime = nil
    call.bodyBytes = nil
    head = nil
    refusal = []
    expectsHeartbeats = false
    var limits = EventStreamLimits()
    limits.eventBytes = configuration.messageBytes
    reader = SharedEventStream.Reader(limits: limits)
    watch.listen(configuration.requestTimeout, "no answer")
    stream = http.start(call, on: loop, handler: self)
    stream?.isPaused = isHeld
  }

  // MARK: Operations

  private func post(_ number: Int, _ token: String) {
    guard let subscriber = operations[number]?.subscriber else { return }
    var wire = subscriber.wire
    wire.extensions["operationId"] = .string(String(number))
    var checked = HTTPHeaders()
    do throws(GraphQLClientError) {
      try checked.append(checking: subscriber.request.headers)
    } catch {
      return finish(number, error)
    }
    var call = requests.request("POST", token)
    call.headers = [(name: "Content-Type", value: "application/json")] + call.headers + subscriber.request.headers
    call.body = wire.serialized()
    operations[number]?.wasSent = true
    operations[number]?.start = WholeExchange(call, http, on: loop) { [weak self] result in
      self?.posted(number, result)
    }
  }

  private func posted(_ number: Int, _ result: Result<WholeExchange.Answer, HTTPExchangeError>) {
    guard let subscriber = operations[number]?.subscriber else { return }
    operations[number]?.start = nil
    switch result {
    case .failure(let error): watch.lose(GraphQLClientError(.connectionLost, error.message, underlying: error))
    case .success(let answer):
      switch answer.status {
      case 202, 200, 204: subscriber.activate()
      // The stream has ended, which is or was reported by itself.
      case 404: watch.lose(GraphQLClientError(.connectionLost, answer.message, status: 404, errors: answer.errors))
      case 401, 403: refused(number, answer)
      case let status where HTTPSubscriber.mayPass(status, answer.errors) && configuration.resumesHTTPSubscriptions:
        watch.lose(
          GraphQLClientError(.httpStatus, answer.message, status: status, errors: answer.errors),
          retryAfter: answer.retryAfter(calendar()))
      default:
        finish(number, HTTPSubscriber.refusal(answer.errors, status: answer.status))
      }
    }
  }

  /// The server refuses the credentials of one subscription: new ones are asked for once, and go with everything that
  /// follows. The stream stays.
  private func refused(_ number: Int, _ answer: WholeExchange.Answer) {
    guard configuration.credentials != nil, operations[number]?.wasRefused == false else {
      return finish(
        number, GraphQLClientError(.unauthorized, answer.message, status: answer.status, errors: answer.errors))
    }
    operations[number]?.wasRefused = true
    operations[number]?.wasSent = false
    refused.insert(number)
    guard question == nil else { return }
    question = attempts.credentials(.refused(code: answer.status)) { [weak self] answer in
      guard let self, let token = openToken else { return }
      question = nil
      let waiting = refused.sorted()
      refused = []
      switch answer {
      case .success(let credentials):
        guard use(credentials) else { return }
        for number in waiting { post(number, token) }
      case .failure(let error):
        let error = GraphQLClientError(.connectFailed, "no credentials", underlying: error)
        for number in waiting { finish(number, error) }
      }
    }
  }

  /// Ends one subscription.
  private func finish(_ number: Int, _ error: GraphQLClientError?) {
    guard let operation = operations.removeValue(forKey: number) else { return }
    operation.start?.cancel()
    operation.subscriber.feed.finish(throwing: error.map(operation.subscriber.placed))
    if operations.isEmpty { rest() } else { unpause() }
  }

  // MARK: Ending

  /// The server refuses the stream itself.
  private func refused(_ answer: WholeExchange.Answer, _ what: String) {
    let status = answer.status
    if status == 401 || status == 403 { return watch.refuse(status, answer.message, answer.errors) }
    let text = "\(endpoint.displayURL): \(what): \(answer.message)"
    let error = GraphQLClientError(.httpStatus, text, status: status, errors: answer.errors)
    // A token that is no longer known was lost with the server that gave it; without a token, 404 is about the path.
    let isLostToken = status == 404 && token != nil
    if HTTPSubscriber.mayPass(status, answer.errors) || isLostToken, configuration.resumesHTTPSubscriptions {
      return watch.lose(error, retryAfter: answer.retryAfter(calendar()))
    }
    fail(error)
  }

  /// The client has left.
  func shutDown() {
    for operation in takeAll() { operation.subscriber.feed.core.move(to: .finished(.cancelled)) }
  }

  /// Ends every subscription.
  func fail(_ error: GraphQLClientError) {
    for operation in takeAll() { operation.subscriber.feed.finish(throwing: operation.subscriber.placed(error)) }
  }

  private func takeAll() -> [Operation] {
    let all = numbers.compactMap { operations.removeValue(forKey: $0) }
    for operation in all { operation.start?.cancel() }
    rest()
    return all
  }

  private func rest() {
    letGo()
    _ = attempts.release()
  }

  /// Lets go of the stream and of everything that concerns it.
  func letGo() {
    watch.stop()
    question?.cancel()
    question = nil
    token = nil
    refused = []
    reservation?.cancel()
    reservation = nil
    stream?.cancel()
    stream = nil
    for number in numbers { operations[number]?.letGo() }
  }
}

extension EventStreamDriver: HTTPExchangeHandler {
  func received(head: HTTPExchangeHead) {
    self.head = head
    guard head.status == 200, head["content-type"]?.lowercased().hasPrefix("text/event-stream") == true,
      let token, watch.begin()
    else { return watch.listen(configuration.requestTimeout, "no end") }
    for number in numbers { post(number, token) }
  }

  func received(body bytes: borrowing RawSpan) {
    let piece = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    guard attempts.phase == .open else {
      if refusal.count + piece.count <= configuration.messageBytes { refusal += piece }
      return
    }
    var messages: [SharedEventStream.Message] = []
    var broken: EventStreamFailure?
    do throws(EventStreamFailure) {
      try reader.receive(piece, messages: &messages)
    } catch {
      broken = error
    }
    if let retry = reader.retry { attempts.serverPauses(for: .milliseconds(retry)) }
    if messages.isEmpty { expectsHeartbeats = true }
    for message in messages { follow(message) }
    if let broken, stream != nil { fail(GraphQLClientError(.protocolViolation, broken.description)) }
    listenForHeartbeats()
  }

  private func follow(_ message: SharedEventStream.Message) {
    // An event before may have ended the stream.
    guard stream != nil else { return }
    switch message {
    case .next(let id, let payload):
      guard let number = Int(id), let subscriber = operations[number]?.subscriber else { return }
      // It may overtake the answer to its request.
      subscriber.activate()
      attempts.credentialsAccepted()
      switch subscriber.take(payload) {
      case .noted: break
      case .kept: attempts.progressed()
      case .full:
        attempts.progressed()
        operations[number]?.isHolding = true
        stream?.isPaused = true
        watch.stopListening()
      case .serverEnds(.passing(let error)): return watch.lose(error)
      case .serverEnds(.credentials(let error)):
        // Those of the whole stream: the provider is asked at the next attempt.
        guard attempts.canRefresh, subscriber.isServed, isReplaceable else { return finish(number, error) }
        return watch.lose(error, isAllowed: true)
      }
      if subscriber.feed.isFinished { cancel(number) }
    case .complete(let id):
      if let number = Int(id) { finish(number, nil) }
    case .malformed(let what): fail(GraphQLClientError(.protocolViolation, what))
    }
  }

  func ended(_ error: HTTPExchangeError?) {
    stream = nil
    if let error {
      return watch.lose(error, head == nil ? .connectFailed : .connectionLost)
    }
    guard attempts.phase == .open else {
      return refused(
        WholeExchange.Answer(status: head?.status ?? 0, body: refusal, retryAfterField: head?["retry-after"]),
        "the server opens no event stream")
    }
    watch.lose(GraphQLClientError(.connectionLost, "the server ended the event stream"))
  }
}
