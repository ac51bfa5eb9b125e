package import MartletRuntime
internal import MartletVocabulary

/// HTTP by the system's client. Time-outs, bounds and checks are this package's, by the loop's timers, so that they are
/// the same over every network.
package final class SystemExchanges: HTTPExchanging {
  private let tasks: any ExchangeTasks
  private let limits: ExchangeLimits

  package init(_ tasks: any ExchangeTasks, limits: ExchangeLimits = ExchangeLimits()) {
    self.tasks = tasks
    self.limits = limits
  }

  package func start(
    _ request: HTTPExchangeRequest, on loop: any Loop, handler: any HTTPExchangeHandler
  ) -> HTTPExchange {
    let exchange = SystemExchange(request, tasks, limits, on: loop, handler: handler)
    exchange.start()
    return HTTPExchange(cancelling: { exchange.cancel() }, pausing: { exchange.pause($0) })
  }
}

/// One request and its response. Confined to its loop. Its task holds it while it runs.
private final class SystemExchange: ExchangeEvents {
  private let request: HTTPExchangeRequest
  private let tasks: any ExchangeTasks
  private let limits: ExchangeLimits
  private let loop: any Loop
  private var handler: (any HTTPExchangeHandler)?
  private var task: (any ExchangeTask)?
  private var isPaused = false
  /// What came while it was paused.
  private var held: [[UInt8]] = []
  private var heldBytes = 0
  /// The end that came while something is held.
  private var heldEnd: Result<Void, HTTPExchangeError>?
  private var bodyBytes = 0
  private var connectTimer: LoopTimer?
  private var totalTimer: LoopTimer?
  private var idleTimer: LoopTimer?

  init(
    _ request: HTTPExchangeRequest, _ tasks: any ExchangeTasks, _ limits: ExchangeLimits, on loop: any Loop,
    handler: any HTTPExchangeHandler
  ) {
    self.request = request
    self.tasks = tasks
    self.limits = limits
    self.loop = loop
    self.handler = handler
  }

  func start() {
    precondition(loop.isCurrent, "an exchange is started on its loop")
    if let problem = problem {
      loop.schedule(at: loop.now) { [self] in end(problem) }
      return
    }
    let task = tasks.make(request, isStream: request.bodyBytes == nil, events: self)
    self.task = task
    // The system does not report when it has connected; that a part of the body has left shows it.
    if request.body?.isEmpty == false || request.bodyFile != nil {
      connectTimer = timer(request.connectTime, "no connection")
    }
    if let time = request.totalTime { totalTimer = timer(time, "no whole response") }
    restartIdleTimer()
    task.resume()
  }

  private var problem: HTTPExchangeError? {
    if let error = HTTPRequestCheck.error(in: request) { return error }
    // The system resolves names itself: another address than the checked one could be the one that is used.
    if request.pinnedAddress != nil {
      return HTTPExchangeError(.invalidRequest, "the system's HTTP client cannot connect to a given address")
    }
    return nil
  }

  private func timer(_ time: Duration, _ what: String) -> LoopTimer {
    loop.schedule(at: loop.now + time) { [weak self] in
      self?.giveUp(HTTPExchangeError(.timeout, "\(what) within \(time)"))
    }
  }

  private func restartIdleTimer() {
    idleTimer?.cancel()
    idleTimer = nil
    guard let time = request.idleTime, !isPaused, task != nil else { return }
    idleTimer = timer(time, "nothing received")
  }

  // MARK: Events

  func sentBody() {
    guard handler != nil else { return }
    connected()
    restartIdleTimer()
    handler?.sentBody()
  }

  private func connected() {
    connectTimer?.cancel()
    connectTimer = nil
  }

  func received(head: HTTPExchangeHead) {
    guard handler != nil else { return }
    connected()
    restartIdleTimer()
    handler?.received(head: head)
  }

  func received(body: [UInt8]) {
    guard handler != nil, heldEnd == nil, !body.isEmpty else { return }
    restartIdleTimer()
    if let most = request.bodyBytes, body.count > most - bodyBytes {
      return giveUp(HTTPExchangeError(.bodyTooLarge, "the response is longer than \(most) bytes"))
    }
    bodyBytes += body.count
    if isPaused || !held.isEmpty {
      hold(body)
    } else {
      deliver(body)
    }
  }

  private func hold(_ body: [UInt8]) {
    held.append(body)
    heldBytes += body.count
    guard heldBytes > limits.pausedBytes else { return }
    // What is held is delivered before it.
    heldEnd = .failure(
      HTTPExchangeError(.overflow, "more than \(limits.pausedBytes) bytes came while reading was paused"))
    stopTask()
  }

  private func deliver(_ body: [UInt8]) {
    // The span is of the array, which lives until the call returns.
    unsafe handler?.received(body: body.span.bytes)
  }

  func completed(_ error: HTTPExchangeError?) {
    guard heldEnd == nil else { return }
    task = nil
    if held.isEmpty { return end(error) }
    heldEnd = error.map { .failure($0) } ?? .success(())
  }

  // MARK: The owner

  func pause(_ paused: Bool) {
    guard handler != nil, paused != isPaused else { return }
    isPaused = paused
    restartIdleTimer()
    if let task { tasks.set(task, paused: paused) }
    guard !paused, !held.isEmpty || heldEnd != nil else { return }
    // In a later turn: the owner may be in the middle of its own.
    loop.schedule(at: loop.now) { [self] in deliverHeld() }
  }

  private func deliverHeld() {
    while !isPaused, handler != nil, !held.isEmpty {
      let piece = held.removeFirst()
      heldBytes -= piece.count
      deliver(piece)
    }
    guard !isPaused, held.isEmpty, let heldEnd else { return }
    switch heldEnd {
    case .success: end(nil)
    case .failure(let error): end(error)
    }
  }

  func cancel() {
    handler = nil
    stop()
  }

  // MARK: Ending

  private func giveUp(_ error: HTTPExchangeError) {
    end(error)
  }

  private func end(_ error: HTTPExchangeError?) {
    let told = handler
    handler = nil
    stop()
    told?.ended(error)
  }

  private func stop() {
    held = []
    heldEnd = nil
    stopTask()
  }

  private func stopTask() {
    for timer in [connectTimer, totalTimer, idleTimer] { timer?.cancel() }
    let running = task
    task = nil
    running?.cancel()
  }
}
