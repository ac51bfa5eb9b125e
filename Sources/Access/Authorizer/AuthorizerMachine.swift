package import MartletVocabulary

/// Asks a custom authorizer about credentials: equal ones once, a bounded number at a time, each within a time limit,
/// and none again while its answer may be used.
///
/// Decides and performs nothing. Between events the driver waits until `deadline`.
package struct AuthorizerMachine<Waiter: Sendable>: Sendable {
  package enum Action: Sendable {
    /// Send a credential. The answer is reported by `received` or `failed` with the same number.
    case ask(Int, credential: String)
    /// Give a request up; nothing more is reported about it.
    case abandon(Int)
    /// A caller that waits has its answer.
    case answer(Waiter, Outcome)
    /// For the operator's log.
    case report(AuthorizerFailure)
  }

  package enum Outcome: Sendable, Hashable {
    case accepted(Identity)
    /// The authorizer refused the credential.
    case refused
    /// It gave no answer that can be used, which refuses the caller too.
    case failed(AuthorizerFailure)
  }

  /// A credential about which nothing is known yet.
  private struct Open: Sendable {
    let credential: String
    let deadline: Instant
    var waiters: [Waiter]
    /// Its request; nil while it is queued.
    var number: Int?
  }

  private let limits: AuthorizerLimits
  private var cache: AuthorizerCache
  private var open: [[UInt8]: Open] = [:]
  /// Digests in the order in which their credentials came, which is that of their deadlines.
  private var order: [[UInt8]] = []
  private var requests: [Int: [UInt8]] = [:]
  private var lastNumber = 0
  private var waiterCount = 0

  package init(limits: AuthorizerLimits = AuthorizerLimits()) {
    self.limits = limits
    cache = AuthorizerCache(capacity: limits.cachedAnswers)
  }

  /// When `reached` is to be called next.
  package var deadline: Instant? { order.first.flatMap { open[$0]?.deadline } }

  /// Requests under way.
  package var requestCount: Int { requests.count }

  /// The identity of a credential whose answer may be used again. `calendar` is time since 1970.
  package mutating func remembered(_ digest: [UInt8], at calendar: Duration) -> Identity? {
    cache.find(digest, at: calendar)
  }

  // MARK: Events

  /// A caller shows a credential.
  package mutating func judge(
    _ credential: String, _ digest: [UInt8], for waiter: Waiter, at now: Instant, calendar: Duration
  ) -> [Action] {
    if let known = cache.find(digest, at: calendar) { return [.answer(waiter, .accepted(known))] }
    guard waiterCount < limits.waiters else { return [.answer(waiter, .failed(.overloaded))] }
    if open[digest] != nil {
      open[digest]?.waiters.append(waiter)
      waiterCount += 1
      return []
    }
    guard open.count - requests.count < limits.queuedCredentials else {
      return [.answer(waiter, .failed(.overloaded))]
    }
    open[digest] = Open(credential: credential, deadline: now + limits.answerTimeout, waiters: [waiter])
    order.append(digest)
    waiterCount += 1
    return askNext()
  }

  /// A request has its answer. `calendar` is time since 1970.
  package mutating func received(_ number: Int, status: Int, body: [UInt8], calendar: Duration) -> [Action] {
    guard let digest = requests.removeValue(forKey: number) else { return [] }
    do throws(AuthorizerFailure) {
      switch try AuthorizerAnswer(status: status, body: body, limits: limits) {
      case .refused: return settle(digest, .refused) + askNext()
      case .accepted(let identity, let cacheTime):
        // An answer that has ended already accepts no caller.
        if let end = identity.expires, end <= calendar { return settle(digest, .refused) + askNext() }
        let kept = min(cacheTime ?? limits.cacheTime, limits.longestCacheTime)
        cache.insert(
          identity, for: digest, from: calendar, to: min(calendar + kept, identity.expires ?? calendar + kept))
        return settle(digest, .accepted(identity)) + askNext()
      }
    } catch {
      return [.report(error)] + settle(digest, .failed(error)) + askNext()
    }
  }

  /// A request brought no answer.
  package mutating func failed(_ number: Int, _ reason: AuthorizerFailure) -> [Action] {
    guard let digest = requests.removeValue(forKey: number) else { return [] }
    return [.report(reason)] + settle(digest, .failed(reason)) + askNext()
  }

  /// The time is `deadline` or later.
  package mutating func reached(_ now: Instant) -> [Action] {
    var actions: [Action] = []
    while let digest = order.first, let late = open[digest], now >= late.deadline {
      if let number = late.number {
        requests[number] = nil
        actions.append(.abandon(number))
      }
      actions += settle(digest, .failed(.timedOut))
    }
    // One line for all that were late together.
    return (actions.isEmpty ? [] : [.report(.timedOut)]) + actions + askNext()
  }

  /// Nothing is asked from now on: requests end, and callers that wait are refused.
  package mutating func stop() -> [Action] {
    let numbers = requests.keys.sorted()
    requests = [:]
    var actions = numbers.map { Action.abandon($0) }
    for digest in order { actions += settle(digest, .failed(.stopped)) }
    return actions
  }

  // MARK: Decisions

  private mutating func askNext() -> [Action] {
    var actions: [Action] = []
    for digest in order {
      if requests.count >= limits.requests { break }
      guard let queued = open[digest], queued.number == nil else { continue }
      lastNumber += 1
      open[digest]?.number = lastNumber
      requests[lastNumber] = digest
      actions.append(.ask(lastNumber, credential: queued.credential))
    }
    return actions
  }

  private mutating func settle(_ digest: [UInt8], _ outcome: Outcome) -> [Action] {
    guard let settled = open.removeValue(forKey: digest) else { return [] }
    if let place = order.firstIndex(of: digest) { order.remove(at: place) }
    waiterCount -= settled.waiters.count
    return settled.waiters.map { .answer($0, outcome) }
  }
}
