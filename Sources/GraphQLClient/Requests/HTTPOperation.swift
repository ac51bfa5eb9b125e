import MartletGraphQLClientWire
import MartletHTTPWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// What goes beside the operation in its HTTP request.
package struct HTTPExtras: Sendable {
  /// Header fields of this request alone.
  package var headers: [(name: String, value: String)] = []
  /// A body that takes the place of the JSON one, such as a form with files, and its media type.
  package var form: (contentType: String, body: RequestBody)?
  /// The answer may come in parts.
  package var takesParts = false
  /// The request goes by GET if its URL is no longer than so many bytes.
  var longestURL: Int?

  package init(
    headers: [(name: String, value: String)] = [], form: (contentType: String, body: RequestBody)? = nil,
    takesParts: Bool = false
  ) {
    self.headers = headers
    self.form = form
    self.takesParts = takesParts
  }
}

/// One query or mutation over HTTP: sends it, and decides what a lost or odd answer means. Confined to its loop.
final class HTTPOperation {
  /// What the operations of one client have in common.
  struct Surroundings {
    var endpoint: GraphQLEndpoint
    var configuration: ConnectionConfiguration
    var environment: ClientEnvironment
    var pool: any CallCarrier
    /// Connections to where redirects lead.
    var redirected: RedirectPools
    /// Gathers queries, where that is configured.
    var batcher: HTTPBatcher?
    var knowledge: ServerKnowledge
  }

  private let response: PendingResponse
  private var request: RequestPayload
  private let kind: ResendKind
  private let extras: HTTPExtras
  private let home: Surroundings
  private let ended: () -> Void
  private let attempts: ConnectionAttempts
  private var loop: any Loop { home.environment.loop }
  private var ticket: HTTPTicket?
  private var deadline: LoopTimer?
  /// The request may have reached the server.
  private var wasSent = false
  private var needsFreshConnection = false
  /// Where it is sent: the client's endpoint, or where a redirect leads.
  private var endpoint: GraphQLEndpoint
  private var redirects = 0
  /// Parts of the answer that were handed on.
  private var partCount = 0

  /// - Parameter ended: called once, when nothing more happens here.
  init(
    _ request: RequestPayload, _ kind: ResendKind, _ extras: HTTPExtras, _ response: PendingResponse,
    in home: Surroundings, ended: @escaping () -> Void
  ) {
    self.request = request
    self.kind = kind
    self.extras = extras
    self.response = response
    self.home = home
    endpoint = home.endpoint
    self.ended = ended
    attempts = ConnectionAttempts(.request, home.configuration, home.environment)
    attempts.onDue = { [weak self] _, answer in self?.due(answer) }
  }

  func start() {
    restartDeadline()
    attempts.need()
  }

  private func restartDeadline() {
    deadline?.cancel()
    deadline = loop.schedule(at: loop.now + home.configuration.requestTimeout) { [weak self] in self?.reachedDeadline()
    }
  }

  // MARK: Sending

  private func due(_ answer: Result<Credentials, any Error>) {
    switch answer {
    case .success(let credentials): send(credentials)
    case .failure(let error): fail(GraphQLClientError(.connectFailed, "no credentials", underlying: error))
    }
  }

  private func send(_ credentials: Credentials) {
    if wasSent, kind == .numberedMutation {
      request.extensions = RequestContinuity.resending(request.extensions)
    }
    var headers = HTTPHeaders([("Host", endpoint.hostField)])
    let inParts = extras.takesParts ? home.configuration.incrementalDelivery.accept : nil
    // Parts are read as they arrive, and compressed responses whole.
    if inParts == nil, home.environment.inflate != nil { headers.append("Accept-Encoding", "gzip") }
    headers.append("Accept", inParts ?? "application/graphql-response+json, application/json;q=0.9")
    let target = targetOfGET
    if target == nil { headers.append("Content-Type", extras.form?.contentType ?? "application/json") }
    // Forms and GETs are "simple" requests to servers that guard against forged ones; a field of one's own is not.
    if extras.form != nil || target != nil { headers.append("GraphQL-Require-Preflight", "1") }
    do throws(GraphQLClientError) {
      // Whatever may be a secret goes to the origin it is meant for, and to no other that a redirect names.
      if endpoint.address == home.endpoint.address {
        try headers.append(checking: home.configuration.headers)
        try headers.append(checking: extras.headers)
        try headers.append(checking: credentials.headers)
        if let aws = credentials.aws { try sign(&headers, aws, target) }
      }
    } catch {
      return fail(error)
    }
    let head = HTTPRequestHead(
      method: target == nil ? "POST" : "GET", target: target ?? endpoint.target, headers: headers)
    let body = target == nil ? extras.form?.body ?? RequestBody(request.serialized()) : RequestBody([UInt8]())
    var call = HTTPCall(head: head, body: body)
    call.takesParts = inParts != nil
    call.needsFreshConnection = needsFreshConnection
    let told: (Result<HTTPAnswer, HTTPLoss>) -> Void = { [weak self] result in
      guard let self else { return }
      ticket = nil
      switch result {
      case .success(let answer): answered(answer)
      case .failure(let loss): lost(loss)
      }
    }
    // A signature is of one body.
    let mayShare =
      kind == .query && target == nil && extras.form == nil && inParts == nil && !needsFreshConnection
      && credentials.aws == nil && redirects == 0
    if mayShare, let batcher = home.batcher, let query = body.whole {
      ticket = batcher.start(query, call, completion: told)
    } else {
      let pool = endpoint.address == home.endpoint.address ? home.pool : home.redirected.pool(for: endpoint.address)
      ticket = pool.start(
        call, part: { [weak self] in self?.received(part: $0) }, moved: { [weak self] in self?.restartDeadline() },
        completion: told)
    }
  }

  /// Adds what IAM's signature of the request adds to its fields.
  private func sign(
    _ headers: inout HTTPHeaders, _ aws: AWSCredentials, _ targetOfGET: String?
  ) throws(GraphQLClientError) {
    guard extras.form == nil, targetOfGET == nil else {
      throw GraphQLClientError(.invalidRequest, "IAM signs requests by POST, without files")
    }
    let fields = try home.configuration.signature(
      aws, of: request.serialized(), to: home.endpoint, at: home.environment.calendar())
    for (name, value) in fields { headers.append(name, value) }
  }

  /// The target when the request goes by GET.
  private var targetOfGET: String? {
    guard let longest = extras.longestURL, extras.form == nil, kind == .query else { return nil }
    let path = endpoint.target
    let target = path + (path.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + request.urlQuery
    return endpoint.httpURL.utf8.count - path.utf8.count + target.utf8.count <= longest ? target : nil
  }

  // MARK: What came of it

  private func received(part: [UInt8]) {
    wasSent = true
    partCount += 1
    restartDeadline()
    response.deliver(OperationPayload(bytes: part))
  }

  private func answered(_ compressed: HTTPAnswer) {
    wasSent = true
    guard let answer = decompressed(compressed) else {
      let text = "the answer's gzip is malformed, or longer than \(home.configuration.messageBytes) bytes"
      return fail(kind == .query ? GraphQLClientError(.invalidResponse, text) : unknown(text))
    }
    if kind == .query, let location = Redirect(answer.head, from: endpoint) {
      return follow(location, status: answer.head.status)
    }
    if answer.head.status == 401 { return refused(answer) { self.fail($0) } }
    if answer.parts != nil { return finish() }
    let reading = HTTPReading(answer, limit: home.configuration.messageBytes)
    switch reading {
    case .requestError, .noResponse:
      // Servers refuse credentials with it, and also what their caller may not do: others may be of use once.
      if answer.head.status == 403, attempts.canRefresh {
        return refused(answer) { _ in self.finish(reading, answer) }
      }
    case .response: break
    }
    finish(reading, answer)
  }

  private func finish(_ reading: HTTPReading, _ answer: HTTPAnswer) {
    switch reading {
    case .response(let payload, remembersWrites: let remembers):
      if remembers { home.knowledge.remembersWrites = true }
      response.deliver(OperationPayload(payload))
      finish()
    case .requestError(let errors):
      let message = errors.first?["message"]?.string ?? "the server gave no reason"
      var error = GraphQLClientError(.operationFailed, message, status: answer.head.status, errors: errors)
      error.retryAfter = pause(answer)
      fail(error)
    case .noResponse(var error):
      error.retryAfter = pause(answer)
      if HTTPSubscriber.mayPass(answer.head.status, error.errors), mayRepeat {
        return sendAgainLater(orFail: error, retryAfter: error.retryAfter)
      }
      fail(kind != .query && Self.mayHaveRun(answer.head.status) ? unknown(error) : error)
    }
  }

  /// The pause that the server asks for before another attempt.
  private func pause(_ answer: HTTPAnswer) -> Duration? {
    answer.head.headers["Retry-After"].flatMap { RetryAfter.pause($0, now: home.environment.calendar()) }
  }

  /// Whether a status without a GraphQL response leaves open what became of a mutation: a proxy that lost its server
  /// while the request was there (502, 504, 520 and later), or a server that failed while it ran (500). With 503 the
  /// request was not passed on.
  private static func mayHaveRun(_ status: Int) -> Bool {
    status >= 500 && ![501, 503, 505].contains(status)
  }

  private func unknown(_ error: GraphQLClientError) -> GraphQLClientError {
    var unknown = GraphQLClientError(
      .outcomeUnknown, "no answer to the mutation: \(error.message)", status: error.status, errors: error.errors)
    unknown.retryAfter = error.retryAfter
    return unknown
  }

  /// The answer with the body that was compressed; nil for one that cannot be decompressed.
  private func decompressed(_ answer: HTTPAnswer) -> HTTPAnswer? {
    // Another name of it that recipients have to know (RFC 9110, section 8.4.1.3). A body may also be empty.
    guard let encoding = answer.head.headers["Content-Encoding"]?.lowercased(), ["gzip", "x-gzip"].contains(encoding),
      !answer.body.isEmpty, let inflate = home.environment.inflate
    else { return answer }
    guard let member = GzipMember(answer.body),
      let body = inflate(Array(member.compressed), home.configuration.messageBytes), member.fits(body)
    else { return nil }
    var answer = answer
    answer.body = body
    return answer
  }

  // MARK: Redirects

  /// Redirects followed for one query; more are a circle.
  private static let mostRedirects = 5

  private func follow(_ redirect: Redirect, status: Int) {
    switch redirect {
    case .to(let next) where redirects < Self.mostRedirects:
      redirects += 1
      endpoint = next
      attempts.replace {}
    case .to: fail(GraphQLClientError(.httpStatus, "more than \(Self.mostRedirects) redirects", status: status))
    case .refused(let why): fail(GraphQLClientError(.httpStatus, why, status: status))
    }
  }

  /// The server refuses the credentials: others are asked for once, where there is a provider.
  ///
  /// - Parameter isFinal: Runs when there are none, or when they are refused too.
  private func refused(_ answer: HTTPAnswer, otherwise isFinal: (GraphQLClientError) -> Void) {
    let status = answer.head.status
    let failure = attempts.canRefresh ? RetryMachine.Failure.credentialsRefused(code: status) : .final
    attempts.closed(failure, isNeeded: true) { action in
      guard case .fail = action else { return }
      let errors = HTTPReading.errors(of: answer)
      let message = errors.first?["message"]?.string ?? "the server refuses the credentials"
      isFinal(GraphQLClientError(.unauthorized, message, status: status, errors: errors))
    }
  }

  /// A mutation with a number at a server that remembers it.
  private var mayRepeat: Bool { kind == .numberedMutation && home.knowledge.remembersWrites && partCount == 0 }

  private func lost(_ loss: HTTPLoss) {
    switch loss.cause {
    case .queueIsFull: return fail(GraphQLClientError(.overloaded, loss.description))
    case .file(let text): return fail(GraphQLClientError(.unreadableFile, text))
    case .parts(let failure) where failure.rule != .truncated:
      return fail(GraphQLClientError(.protocolViolation, failure.description))
    case .answer(let failure) where failure.rule == .bodyTooLarge:
      let most = home.configuration.messageBytes
      return fail(GraphQLClientError(.responseTooLarge, "the answer is longer than \(most) bytes"))
    case .answer where kind == .query:
      return fail(GraphQLClientError(.invalidResponse, "the answer breaks HTTP: \(loss)"))
    case .connection, .answer, .parts: break
    }
    if partCount > 0 {
      let cause = "the answer ended after \(partCount) of its parts: \(loss)"
      // It was executed; what it answers is not known in full.
      return fail(GraphQLClientError(kind == .query ? .connectionLost : .outcomeUnknown, cause))
    }
    // What never left may be tried again whatever it is, at the pace of the reconnect policy.
    if loss.stage == .waiting, !wasSent {
      return sendAgainLater(orFail: GraphQLClientError(.connectFailed, loss.description))
    }
    if loss.stage != .waiting { wasSent = true }
    switch kind {
    case .query:
      // A server may close a kept connection while a request is on its way; nothing says it is ill.
      if loss.stage == .sent, loss.wasKept, !needsFreshConnection {
        needsFreshConnection = true
        return attempts.replace {}
      }
      fail(GraphQLClientError(.connectionLost, loss.description))
    case .mutation: fail(unknown(loss.description))
    case .numberedMutation:
      if mayRepeat {
        sendAgainLater(orFail: unknown(loss.description))
      } else {
        fail(unknown(loss.description))
      }
    }
  }

  private func unknown(_ cause: String) -> GraphQLClientError {
    GraphQLClientError(.outcomeUnknown, "no answer to the mutation: \(cause)")
  }

  private func sendAgainLater(orFail error: GraphQLClientError, retryAfter: Duration? = nil) {
    needsFreshConnection = true
    attempts.closed(.passing(retryAfter: retryAfter), isNeeded: true) { action in
      if case .fail = action { fail(error) }
    }
  }

  private func reachedDeadline() {
    let time = home.configuration.requestTimeout
    let isUnderWay = wasSent || (ticket.map { $0.stage != .waiting } ?? false)
    if isUnderWay, kind != .query { return fail(unknown("nothing within \(time)")) }
    fail(GraphQLClientError(.timeout, "no answer within \(time)"))
  }

  // MARK: Ends

  private func fail(_ error: GraphQLClientError) { finish(throwing: error) }

  private func finish(throwing error: GraphQLClientError? = nil) {
    cancel()
    response.finish(throwing: error)
    ended()
  }

  /// The client is shut down.
  func shutDown() {
    let isUnderWay = wasSent || (ticket.map { $0.stage != .waiting } ?? false)
    let error =
      isUnderWay && kind != .query
      ? unknown("the client was shut down") : GraphQLClientError(.shutDown, "the client was shut down")
    cancel()
    response.finish(throwing: error)
  }

  /// Lets go of everything: the caller has left, or the response has ended.
  func cancel() {
    _ = attempts.shutDown()
    ticket?.cancel()
    ticket = nil
    deadline?.cancel()
  }
}
