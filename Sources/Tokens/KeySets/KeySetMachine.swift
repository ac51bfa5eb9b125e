package import MartletVocabulary

/// Keeps the published keys of one issuer: fetches them, follows their rotation, and lives through outages of their
/// source.
///
/// The keys themselves are in force from `install` to the next `install` or `withdraw`. The driver checks tokens with
/// them, and comes here with those whose key it does not know. Between events it waits until `deadline`.
package struct KeySetMachine<Waiter: Sendable>: Sendable {
  /// Where the keys are published.
  package enum Source: Sendable, Hashable {
    case keySet(KeySetAddress)
    /// The discovery document of this issuer names the key set.
    case discovery(issuer: String, KeySetAddress)
  }

  package enum Action: Sendable {
    /// Request an address. Its answer is reported by `received` or `failed` with the same number.
    case fetch(Int, KeySetAddress, bytes: Int)
    /// Give a request up; nothing more is reported about it.
    case abandon(Int)
    /// These keys are in force now, and no others.
    case install(TokenKeySet)
    /// No key is in force now: the source has been failing for longer than keys stay good.
    case withdraw
    /// Look again for the key of a waiting token.
    case retry(Waiter)
    /// Refuse a waiting token: its key is unknown.
    case refuse(Waiter)
    /// Refuse a waiting token for now: there are no keys to check it with.
    case unavailable(Waiter)
    /// For the operator's log.
    case report(KeySetFailure)
  }

  private struct Fetch: Sendable {
    var number: Int
    var isDiscovery: Bool
    var deadline: Instant
  }

  private let source: Source
  private let algorithms: [TokenAlgorithm]
  private let limits: KeySetLimits

  private var fetch: Fetch?
  private var lastNumber = 0
  private var waiters: [Waiter] = []
  /// When the set is looked at again, or a failed attempt is repeated.
  private var nextFetch: Instant?
  /// Until when keys are in force without another answer; nil while there are none.
  private var goodUntil: Instant?
  private var failures = 0
  /// When tokens with unknown keys may cause a fetch again.
  private var unknownKeysFrom: Instant?
  /// What the discovery document named, until the set there cannot be had.
  private var discovered: KeySetAddress?

  /// - Parameter algorithms: Those that are accepted, in the order in which keys without `alg` take one.
  package init(_ source: Source, algorithms: [TokenAlgorithm], limits: KeySetLimits = KeySetLimits()) {
    self.source = source
    self.algorithms = algorithms
    self.limits = limits
  }

  /// When `reached` is to be called next.
  package var deadline: Instant? {
    [fetch?.deadline, fetch == nil ? nextFetch : nil, goodUntil].compactMap { $0 }.min()
  }

  /// Whether keys are in force.
  package var hasKeys: Bool { goodUntil != nil }

  // MARK: Events

  /// The issuer is configured: its keys are fetched before a token asks for them.
  package mutating func start(now: Instant) -> [Action] {
    guard fetch == nil, goodUntil == nil else { return [] }
    return begin(now)
  }

  /// An operator wants another look at the source, now and from its beginning: no pause holds, and what a fetch under
  /// way brings may be older than the wish.
  package mutating func refresh(now: Instant) -> [Action] {
    let abandoned: [Action] = fetch.map { [.abandon($0.number)] } ?? []
    fetch = nil
    discovered = nil
    return abandoned + begin(now)
  }

  /// No key in force fits a token. It waits where another look at the source is allowed and may help.
  package mutating func missesKey(_ waiter: Waiter, now: Instant) -> [Action] {
    guard waiters.count < limits.waiters else { return [.unavailable(waiter)] }
    if fetch != nil {
      waiters.append(waiter)
      return []
    }
    // After a failure only the pause decides, so that tokens do not add to the load of a source that is in trouble.
    let mayFetch = failures == 0 && (unknownKeysFrom.map { now >= $0 } ?? true)
    guard mayFetch else { return [goodUntil == nil ? .unavailable(waiter) : .refuse(waiter)] }
    unknownKeysFrom = now + limits.unknownKeyPause
    waiters.append(waiter)
    return begin(now)
  }

  /// A waiting token is no longer of interest.
  package mutating func forget(_ isForgotten: (Waiter) -> Bool) {
    waiters.removeAll(where: isForgotten)
  }

  /// A fetch has its answer.
  package mutating func received(
    _ number: Int, _ answer: KeySetAnswer, now: Instant, chance: inout some RandomNumberGenerator
  ) -> [Action] {
    guard let current = fetch, current.number == number else { return [] }
    fetch = nil
    do throws(KeySetFailure) {
      guard answer.status == 200 else { throw .status(answer.status) }
      if current.isDiscovery {
        guard case .discovery(let issuer, _) = source else { return [] }
        let address = try answer.keySetAddress(issuer: issuer, limits: limits)
        discovered = address
        return [request(address, isDiscovery: false, now)]
      }
      let set = try answer.keySet(algorithms: algorithms, limits: limits)
      return installed(set, answer, now)
    } catch {
      return failed(with: error, now, &chance)
    }
  }

  /// A fetch brought no answer.
  package mutating func failed(
    _ number: Int, _ reason: KeySetFailure, now: Instant, chance: inout some RandomNumberGenerator
  ) -> [Action] {
    guard let current = fetch, current.number == number else { return [] }
    fetch = nil
    return failed(with: reason, now, &chance)
  }

  /// The time is `deadline` or later.
  package mutating func reached(_ now: Instant, chance: inout some RandomNumberGenerator) -> [Action] {
    var actions: [Action] = []
    if let current = fetch, now >= current.deadline {
      fetch = nil
      actions.append(.abandon(current.number))
      actions += failed(with: .timedOut, now, &chance)
    }
    if let end = goodUntil, now >= end {
      goodUntil = nil
      actions.append(.withdraw)
    }
    if fetch == nil, let next = nextFetch, now >= next { actions += begin(now) }
    return actions
  }

  // MARK: Decisions

  private mutating func begin(_ now: Instant) -> [Action] {
    nextFetch = nil
    switch source {
    case .keySet(let address): return [request(address, isDiscovery: false, now)]
    case .discovery(_, let address):
      if let discovered { return [request(discovered, isDiscovery: false, now)] }
      return [request(address, isDiscovery: true, now)]
    }
  }

  private mutating func request(_ address: KeySetAddress, isDiscovery: Bool, _ now: Instant) -> Action {
    lastNumber += 1
    fetch = Fetch(number: lastNumber, isDiscovery: isDiscovery, deadline: now + limits.answerTimeout)
    return .fetch(lastNumber, address, bytes: isDiscovery ? limits.discoveryBytes : limits.keySetBytes)
  }

  private mutating func installed(_ set: TokenKeySet, _ answer: KeySetAnswer, _ now: Instant) -> [Action] {
    failures = 0
    let age = max(limits.leastAge, min(limits.greatestAge, answer.freshness ?? limits.defaultAge))
    nextFetch = now + age
    goodUntil = now + age + limits.outage
    let retried = waiters
    waiters = []
    return [.install(set)] + retried.map { .retry($0) }
  }

  private mutating func failed(
    with reason: KeySetFailure, _ now: Instant, _ chance: inout some RandomNumberGenerator
  ) -> [Action] {
    failures += 1
    // The set may have moved: the next attempt asks the discovery document again.
    discovered = nil
    nextFetch = now + pause(&chance)
    let refused = waiters
    waiters = []
    let isKnown = goodUntil != nil
    return [.report(reason)] + refused.map { isKnown ? .refuse($0) : .unavailable($0) }
  }

  /// Half of the pause is chance, so that many servers do not come back together.
  private func pause(_ chance: inout some RandomNumberGenerator) -> Duration {
    let doubled = limits.firstPause * (1 << min(failures - 1, 20))
    let half = max(0, min(limits.greatestPause, doubled).wholeNanoseconds / 2)
    return .nanoseconds(half + Int64(chance.next() % UInt64(half + 1)))
  }
}
