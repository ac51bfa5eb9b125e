internal import MartletRuntime
internal import MartletTokens
internal import MartletVocabulary

/// Carries out what the machine of a published key set decides: requests, timers, and the keys in force.
///
/// Confined to its loop.
final class KeySetDriver {
  private let issuer: IssuerKeys
  private let surroundings: OutgoingSurroundings
  /// Keys were taken out of force: what they admitted has to be looked at again.
  private let keysWithdrawn: @Sendable () -> Void
  private var machine: KeySetMachine<KeyWaiter>
  private var chance: any RandomNumberGenerator
  private var fetch: OutgoingFetch?
  private var timer: LoopTimer?
  private var isStopped = false

  init?(
    _ issuer: IssuerKeys, _ surroundings: OutgoingSurroundings, chance: any RandomNumberGenerator,
    keysWithdrawn: @escaping @Sendable () -> Void
  ) {
    guard case .published(let source) = issuer.issuer.keys else { return nil }
    self.issuer = issuer
    self.surroundings = surroundings
    self.keysWithdrawn = keysWithdrawn
    self.chance = chance
    machine = KeySetMachine(source, algorithms: issuer.issuer.policy.algorithms, limits: issuer.limits)
  }

  private var now: Instant { surroundings.loop.now }

  /// Fetches the keys before a token asks for them.
  func start() { perform(machine.start(now: now)) }

  /// Fetches the keys again, because an operator asks for it.
  func refresh() { perform(machine.refresh(now: now)) }

  /// Ends requests and timers. Callers that wait are answered.
  func stop() {
    isStopped = true
    timer?.cancel()
    fetch?.cancel()
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

  private func perform(_ actions: [KeySetMachine<KeyWaiter>.Action]) {
    for action in actions {
      switch action {
      case .fetch(let number, let address, let bytes): begin(number, address, bytes)
      case .abandon:
        fetch?.cancel()
        fetch = nil
      case .install(let set): if issuer.install(set) { keysWithdrawn() }
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
    fetch = OutgoingFetch(request, surroundings) { [weak self] result in
      guard let self else { return }
      self.fetch = nil
      switch result {
      case .success(let answer):
        let set = KeySetAnswer(
          status: answer.head.status, cacheControl: answer.head["Cache-Control"], age: answer.head["Age"],
          body: answer.body)
        self.perform(self.machine.received(number, set, now: self.now, chance: &self.chance))
      case .failure(let error):
        let reason: KeySetFailure = error.code == .bodyTooLarge ? .tooLarge(bytes) : .unreachable(error.message)
        self.perform(self.machine.failed(number, reason, now: self.now, chance: &self.chance))
      }
    }
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
