internal import MartletHTTPWire
package import MartletRuntime
internal import MartletVocabulary

/// Sends calls to one origin by a complete HTTP client: each is one exchange. Confined to its loop.
///
/// The client's own limits of connections make further exchanges wait without saying so; so they wait here, where a
/// call that has not been sent is known as one.
package final class ExchangeCarrier: CallCarrier {
  private let origin: String
  private let http: any HTTPExchanging
  private let staging: any BodyStaging
  private let loop: any Loop
  private let spawner: any Spawner
  private let limits: HTTPPool.Limits
  private var running: [ObjectIdentifier: ExchangeCall] = [:]
  private let waiting: WaitingCalls

  package init(
    _ endpoint: ConnectionTarget, by http: any HTTPExchanging, _ staging: any BodyStaging, on loop: any Loop,
    spawner: any Spawner, limits: HTTPPool.Limits = HTTPPool.Limits()
  ) {
    let host = endpoint.host.utf8.contains(UInt8(ascii: ":")) ? "[\(endpoint.host)]" : endpoint.host
    origin = "\(endpoint.isSecure ? "https" : "http")://\(host):\(endpoint.port)"
    self.http = http
    self.staging = staging
    self.loop = loop
    self.spawner = spawner
    self.limits = limits
    waiting = WaitingCalls(limits.waiting, on: loop)
  }

  package func start(
    _ call: HTTPCall, part: (([UInt8]) -> Void)?, moved: (() -> Void)?,
    completion: @escaping (Result<HTTPAnswer, HTTPLoss>) -> Void
  ) -> HTTPTicket {
    let ticket = HTTPTicket(call, part: part, moved: moved, completion)
    if hasRoom { run(ticket) } else { waiting.append(ticket) }
    return ticket
  }

  private var hasRoom: Bool { running.count < max(1, limits.connections) }

  private func run(_ ticket: HTTPTicket) {
    let call = ExchangeCall(ticket, on: loop, bodyBytes: limits.bodyBytes) { [weak self] in self?.ended($0) }
    running[ObjectIdentifier(call)] = call
    ticket.abandon = { [weak self, weak call] in
      guard let call else { return }
      call.stop()
      self?.ended(call)
    }
    let request = request(of: ticket.call)
    guard ticket.call.body.whole == nil else { return call.begin(request, http) }
    stage(ticket.call.body, for: call, request)
  }

  private func request(of call: HTTPCall) -> HTTPExchangeRequest {
    var request = HTTPExchangeRequest(call.head.method, url: origin + call.head.target)
    // The client makes this one from the URL, and a second would be malformed.
    let headers = call.head.headers
    for index in 0..<headers.count where !HTTPSyntax.equals(headers.name(at: index), "Host") {
      request.headers.append(
        (
          name: String(decoding: headers.name(at: index), as: UTF8.self),
          value: String(decoding: headers.value(at: index), as: UTF8.self)
        ))
    }
    if let whole = call.body.whole, !whole.isEmpty || call.head.method != "GET" { request.body = whole }
    // The operation's own deadline holds, which restarts with each part and stretch.
    request.totalTime = nil
    request.idleTime = nil
    request.bodyBytes = limits.bodyBytes
    return request
  }

  private func stage(_ body: RequestBody, for call: ExchangeCall, _ request: HTTPExchangeRequest) {
    let bound = LoopBound((call, http), on: loop)
    let staging = staging
    call.staging = spawner.spawn {
      let result = Result { try staging.stage(body) }
      bound.loop.execute {
        let (call, http) = bound.value
        call.staged(result, request, http)
      }
    }
  }

  private func ended(_ call: ExchangeCall) {
    guard running.removeValue(forKey: ObjectIdentifier(call)) != nil else { return }
    while hasRoom, let ticket = waiting.first {
      waiting.removeFirst()
      run(ticket)
    }
  }

  package func close() {
    waiting.removeAll()
    for call in running.values { call.stop() }
    running = [:]
  }
}

/// One call as an exchange. Confined to its loop.
private final class ExchangeCall: HTTPExchangeHandler {
  private let ticket: HTTPTicket
  private let loop: any Loop
  private var answer: AnswerReader
  private let ended: (ExchangeCall) -> Void
  private var exchange: HTTPExchange?
  private var body: (any StagedBody)?
  private var isOver = false
  /// Some of the request has left.
  private var wasSent = false
  /// Writes a body with files to one file.
  var staging: SpawnedTask?

  init(_ ticket: HTTPTicket, on loop: any Loop, bodyBytes: Int, ended: @escaping (ExchangeCall) -> Void) {
    self.ticket = ticket
    self.loop = loop
    self.ended = ended
    answer = AnswerReader(bodyBytes: bodyBytes)
  }

  func begin(_ request: HTTPExchangeRequest, _ http: any HTTPExchanging) {
    // Not every client reports what has left. Only an error that shows otherwise takes this back.
    ticket.stage = .sent
    exchange = http.start(request, on: loop, handler: self)
  }

  func staged(_ result: Result<any StagedBody, any Error>, _ request: HTTPExchangeRequest, _ http: any HTTPExchanging) {
    staging = nil
    switch result {
    case .success(let body):
      guard !isOver else { return body.remove() }
      self.body = body
      var request = request
      request.bodyFile = body.path
      begin(request, http)
    case .failure(let error): fail(.file("\(error)"), stage: .waiting)
    }
  }

  /// Lets go of everything, without a word to the caller.
  func stop() {
    isOver = true
    staging?.cancel()
    staging = nil
    exchange?.cancel()
    exchange = nil
    body?.remove()
    body = nil
  }

  private func fail(_ cause: HTTPLoss.Cause, stage: HTTPLoss.Stage? = nil) {
    guard !isOver else { return }
    stop()
    ended(self)
    ticket.end(.failure(HTTPLoss(cause: cause, stage: stage ?? ticket.stage, wasKept: false)))
  }

  func sentBody() {
    wasSent = true
    ticket.moved?()
  }

  func received(head: HTTPExchangeHead) {
    ticket.stage = .answering
    var fields = HTTPHeaders()
    for (name, value) in head.headers {
      let (name, value) = (Array(name.utf8)[...], Array(value.utf8)[...])
      // The client has read them already; what it let through and we would not is left out.
      if HTTPSyntax.isToken(name), HTTPSyntax.isFieldValue(value) { fields.append(name: name, value: value) }
    }
    do throws(MultipartFailure) {
      try answer.begin(
        HTTPResponseHead(status: head.status, headers: fields), takesParts: ticket.call.takesParts)
    } catch {
      fail(.parts(error))
    }
  }

  func received(body bytes: borrowing RawSpan) {
    // The span is valid during the call, and copied in it.
    let piece = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    do throws(MultipartFailure) {
      try answer.take(piece) { ticket.part?($0) }
    } catch {
      fail(.parts(error))
    }
  }

  func ended(_ error: HTTPExchangeError?) {
    guard !isOver else { return }
    exchange = nil
    if let error { return lose(error) }
    do throws(MultipartFailure) {
      guard let whole = try answer.end() else { return fail(.connection("there was no answer")) }
      stop()
      ended(self)
      ticket.end(.success(whole))
    } catch {
      fail(.parts(error))
    }
  }

  /// Only what shows that no connection came about counts as not sent; with anything else the server may have it.
  private func lose(_ error: HTTPExchangeError) {
    switch error.code {
    case .bodyTooLarge: fail(.answer(HTTPFailure(.bodyTooLarge)))
    case .invalidRequest, .resolution, .connect, .tls:
      fail(.connection(error.message), stage: wasSent ? nil : .waiting)
    case .timeout, .overflow, .response, .other: fail(.connection(error.message))
    }
  }
}
