internal import MartletRuntime
internal import MartletTracing
internal import MartletVocabulary

/// Sends spans to the collector by the server's own HTTP client. Confined to its loop.
final class SpanExporter {
  /// The version of what names the spans, as collectors show it.
  private static let version = "1"

  private let tracer: Tracer
  private let surroundings: OutgoingSurroundings
  private var fetch: OutgoingFetch?
  private var timer: LoopTimer?
  /// Whether the last request failed: one entry of the log for an outage, not one a second.
  private var isFailing = false
  /// Called at the end, once nothing is under way.
  private var drained: (() -> Void)?
  /// The time for what is left when the server stops: a collector that is away must not hold that up.
  private static let drainTime = Duration.seconds(2)

  init(_ tracer: Tracer, _ surroundings: OutgoingSurroundings) {
    self.tracer = tracer
    self.surroundings = surroundings
  }

  func perform(_ step: SpanQueue.Step) {
    switch step {
    case .none: break
    case .wake(let moment):
      timer?.cancel()
      timer = surroundings.loop.schedule(at: moment) { [weak self] in self?.tracer.poll() }
    case .send(let spans): send(spans)
    }
  }

  private func send(_ spans: [TraceSpan]) {
    fetch = OutgoingFetch(request(spans), surroundings) { [weak self] result in self?.ended(spans.count, result) }
  }

  private func request(_ spans: [TraceSpan]) -> HTTPExchangeRequest {
    let configuration = tracer.configuration
    var request = HTTPExchangeRequest("POST", url: configuration.endpoint)
    request.headers = [(name: "Content-Type", value: OTLPRequest.contentType)] + configuration.headers
    request.body = OTLPRequest.body(spans, service: configuration.serviceName, version: Self.version)
    request.totalTime = tracer.limits.requestTime
    request.idleTime = tracer.limits.requestTime
    // An answer says how many spans were refused, and nothing that is acted on.
    request.bodyBytes = 65_536
    return request
  }

  private func ended(_ count: Int, _ result: Result<OutgoingFetch.Answer, HTTPExchangeError>) {
    fetch = nil
    let reason: String?
    switch result {
    case .success(let answer): reason = answer.head.status / 100 == 2 ? nil : "HTTP \(answer.head.status)"
    case .failure(let error): reason = error.message
    }
    if let reason, !isFailing {
      surroundings.log.write(
        .warning, "Traces cannot be sent.",
        [(.address, tracer.configuration.endpoint), (.reason, reason), (.count, "\(count)")])
    }
    isFailing = reason != nil
    if drained != nil { return sendRest() }
    tracer.sent(count, isTaken: reason == nil)
  }

  /// Sends what is left, after what is under way. `completion` is called when the collector has it, does not take it,
  /// or lets the time pass.
  func drain(_ completion: @escaping () -> Void) {
    timer?.cancel()
    drained = completion
    // Holds this object until the end.
    timer = surroundings.loop.schedule(at: surroundings.loop.now + Self.drainTime) { [self] in finish() }
    if fetch == nil { sendRest() }
  }

  private func sendRest() {
    let spans = tracer.takeAll()
    guard !spans.isEmpty else { return finish() }
    fetch = OutgoingFetch(request(spans), surroundings) { [weak self] _ in self?.sendRest() }
  }

  private func finish() {
    timer?.cancel()
    timer = nil
    fetch = nil
    let completion = drained
    drained = nil
    completion?()
  }
}
