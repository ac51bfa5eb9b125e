internal import MartletRuntime
internal import MartletTokens
internal import MartletVocabulary

/// Carries out what the machine of a published key set decides: requests, timers, and the keys in force.
///
/// Confined to its loop.
final class KeySetDriver {
  /// What a driver runs on.
  struct Surroundings {
    let loop: any Loop
    let http: any HTTPExchanging
    let log: Log
    /// Keys were taken out of force: what they admitted has to be looked at again.
    let keysWithdrawn: @Sendable () -> Void
  }

  private let issuer: IssuerKeys
  private let surroundings: Surroundings
  private var machine: KeySetMachine<KeyWaiter>
  private var chance: any RandomNumberGenerator
  private var fetch: KeySetFetch?
  private var timer: LoopTimer?
  private var isStopped = false

  init?(_ issuer: IssuerKeys, _ surroundings: Surroundings, chance: any RandomNumberGenerator) {
    guard case .published(let source) = issuer.issuer.keys else { return nil }
    self.issuer = issuer
    self.surroundings = surroundings
    self.chance = chance
    machine = KeySetMachine(source, algorithms: issuer.issuer.policy.algorithms, limits: issuer.limits)
  }

  private var now: Instant { surroundings.loop.now }

  /// Fetches the keys before a token asks for them.
  func start() { perform(machine.start(now: now)) }

  /// Ends requests and timers. Callers that wait are answered.
  func stop() {
    isStopped = true
    timer?.cancel()
    fetch?.exchange?.cancel()
    fetch = nil
    machine.forget { waiter in
      waiter.resume(.unavailable)
      return true
    }
  }

  /// A token's key was not known. Keys that were installed since may have it: then nothing is fetched for it.
  func misses(_ waiter: KeyWaiter, since generation: Int) {
    if isStopped { return waiter.resume(.unavailable) }
    if issuer.generation != generation { return waiter.resume(.retry) }
    perform(machine.missesKey(waiter, now: now))
  }

  fileprivate func ended(_ fetch: KeySetFetch, _ result: Result<KeySetAnswer, KeySetFailure>) {
    guard self.fetch === fetch else { return }
    self.fetch = nil
    switch result {
    case .success(let answer): perform(machine.received(fetch.number, answer, now: now, chance: &chance))
    case .failure(let reason): perform(machine.failed(fetch.number, reason, now: now, chance: &chance))
    }
  }

  private func perform(_ actions: [KeySetMachine<KeyWaiter>.Action]) {
    for action in actions {
      switch action {
      case .fetch(let number, let address, let bytes): begin(number, address, bytes)
      case .abandon:
        fetch?.exchange?.cancel()
        fetch = nil
      case .install(let set): if issuer.install(set) { surroundings.keysWithdrawn() }
      case .withdraw: issuer.withdraw()
      case .retry(let waiter): waiter.resume(.retry)
      case .refuse(let waiter): waiter.resume(.refused)
      case .unavailable(let waiter): waiter.resume(.unavailable)
      case .report(let failure):
        surroundings.log.write(
          .warning, "The key set of a token issuer cannot be fetched.",
          [(.issuer, issuer.issuer.description.issuer ?? "any"), (.reason, failure.description)])
      }
    }
    armTimer()
  }

  private func begin(_ number: Int, _ address: KeySetAddress, _ bytes: Int) {
    var request = HTTPExchangeRequest("GET", url: address.text)
    request.headers = [("Accept", "application/json")]
    request.bodyBytes = bytes
    // The machine has the time limit of the whole answer.
    request.totalTime = nil
    let fetch = KeySetFetch(number, self)
    self.fetch = fetch
    fetch.exchange = surroundings.http.start(request, on: surroundings.loop, handler: fetch)
  }

  private func armTimer() {
    timer?.cancel()
    timer = nil
    guard !isStopped, let deadline = machine.deadline else { return }
    timer = surroundings.loop.schedule(at: deadline) { [weak self] in
      guard let self, !self.isStopped else { return }
      self.perform(self.machine.reached(self.now, chance: &self.chance))
    }
  }
}

/// One request for a key set. Confined to its loop.
private final class KeySetFetch: HTTPExchangeHandler {
  let number: Int
  private weak var driver: KeySetDriver?
  var exchange: HTTPExchange?
  private var head: HTTPExchangeHead?
  private var body: [UInt8] = []

  init(_ number: Int, _ driver: KeySetDriver) {
    self.number = number
    self.driver = driver
  }

  func received(head: HTTPExchangeHead) { self.head = head }

  func received(body piece: borrowing RawSpan) {
    // The memory is valid during the call.
    unsafe piece.withUnsafeBytes { unsafe body.append(contentsOf: $0) }
  }

  func ended(_ error: HTTPExchangeError?) {
    guard let driver else { return }
    guard error == nil, let head else {
      let reason: KeySetFailure =
        error?.code == .bodyTooLarge ? .tooLarge(body.count) : .unreachable(error?.message ?? "it sent no answer")
      return driver.ended(self, .failure(reason))
    }
    let answer = KeySetAnswer(
      status: head.status, cacheControl: head["Cache-Control"], age: head["Age"], body: body)
    driver.ended(self, .success(answer))
  }
}
