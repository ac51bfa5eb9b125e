internal import MartletAccess
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// Carries out what the machine of a custom authorizer decides: requests and timers. Confined to its loop.
final class AuthorizerDriver {
  private let desk: AuthorizerDesk
  private let url: String
  private let limits: AuthorizerLimits
  private let surroundings: OutgoingSurroundings
  private let calendar: Calendar
  private var fetches: [Int: OutgoingFetch] = [:]
  private var timer: LoopTimer?
  private var isStopped = false

  init(_ desk: AuthorizerDesk, _ surroundings: OutgoingSurroundings, calendar: Calendar) {
    self.desk = desk
    self.surroundings = surroundings
    self.calendar = calendar
    url = desk.authorizer.url
    limits = desk.limits
  }

  func judge(_ credential: UnjudgedCredential, _ waiter: AuthorizerWaiter) {
    if isStopped { return waiter.resume(.failed(.stopped)) }
    let (now, calendar) = (surroundings.loop.now, calendar.sinceEpoch())
    perform { $0.judge(credential.text, credential.digest, for: waiter, at: now, calendar: calendar) }
  }

  /// Ends requests and timers. Callers that wait are answered.
  func stop() {
    perform { $0.stop() }
    isStopped = true
    timer?.cancel()
  }

  private func perform(
    _ event: (inout AuthorizerMachine<AuthorizerWaiter>) -> [AuthorizerMachine<AuthorizerWaiter>.Action]
  ) {
    let (actions, deadline) = desk.step(event)
    for action in actions {
      switch action {
      case .ask(let number, let credential): ask(number, credential)
      case .abandon(let number): fetches.removeValue(forKey: number)?.cancel()
      case .answer(let waiter, let outcome): waiter.resume(outcome)
      case .report(let failure):
        surroundings.log.write(
          .warning, "The custom authorizer gave no usable answer.", [(.reason, failure.description)])
      }
    }
    timer?.cancel()
    timer = deadline.map { deadline in
      surroundings.loop.schedule(at: deadline) { [weak self] in
        guard let self, !self.isStopped else { return }
        let now = self.surroundings.loop.now
        self.perform { $0.reached(now) }
      }
    }
  }

  private func ask(_ number: Int, _ credential: String) {
    var request = HTTPExchangeRequest("POST", url: url)
    request.headers = [("Content-Type", "application/json"), ("Accept", "application/json")]
    request.body = JSONValue.object(["authorizationToken": .string(credential)]).serialized()
    request.bodyBytes = limits.answerBytes
    // The machine has the time limit of the whole answer.
    request.totalTime = nil
    fetches[number] = OutgoingFetch(request, surroundings) { [weak self] result in
      guard let self, self.fetches.removeValue(forKey: number) != nil else { return }
      let calendar = self.calendar.sinceEpoch()
      switch result {
      case .success(let answer):
        self.perform { $0.received(number, status: answer.head.status, body: answer.body, calendar: calendar) }
      case .failure(let error):
        let reason: AuthorizerFailure =
          error.code == .bodyTooLarge ? .tooLarge : .unreachable(error.message)
        self.perform { $0.failed(number, reason) }
      }
    }
  }
}
