/// Decides when tokens are renewed: one request at a time, however many callers wait; a refresh token is used once.
///
/// Times are milliseconds since 1970.
struct TokenKeeper<Waiter: Sendable>: Sendable {
  enum Action: Sendable {
    /// Send the refresh token; report `received` with the same number.
    case refresh(Int, String)
    /// Keep these tokens, or none, before anything else that follows.
    case store(TokenSet?)
    case give(Waiter, TokenSet)
    case fail(Waiter, OIDCError)
  }

  private(set) var tokens: TokenSet?
  private let lead: Int64
  private var refreshing: Int?
  private var lastNumber = 0
  private var waiters: [Waiter] = []

  init(lead: Int64) { self.lead = lead }

  /// A user signed in, or tokens were found in a storage.
  mutating func signedIn(_ tokens: TokenSet) {
    self.tokens = tokens
    // What an earlier refresh brings is not for these.
    refreshing = nil
  }

  /// The user signs out.
  mutating func signOut() -> [Action] {
    tokens = nil
    refreshing = nil
    let failed = waiters
    waiters = []
    return [.store(nil)] + failed.map { .fail($0, Self.signInRequired) }
  }

  /// A token is needed; `isRefused` when the server did not take the last one.
  mutating func need(_ waiter: Waiter, isRefused: Bool, at now: Int64) -> [Action] {
    guard let tokens else { return [.fail(waiter, Self.signInRequired)] }
    if refreshing != nil {
      waiters.append(waiter)
      return []
    }
    let isFresh = tokens.end.map { now < $0 - lead } ?? true
    if isFresh, !isRefused { return [.give(waiter, tokens)] }
    guard let refresh = tokens.refresh else {
      let isGood = !isRefused && tokens.end.map { now < $0 } ?? true
      return [isGood ? .give(waiter, tokens) : .fail(waiter, Self.signInRequired)]
    }
    lastNumber += 1
    refreshing = lastNumber
    waiters = [waiter]
    mustRenew = isRefused
    return [.refresh(lastNumber, refresh)]
  }

  /// Whether the present token was refused, so that it is not given again.
  private var mustRenew = false

  /// The provider's answer to a refresh.
  mutating func received(_ number: Int, _ answer: TokenAnswer, at now: Int64) -> [Action] {
    guard refreshing == number else { return [] }
    refreshing = nil
    let waiting = waiters
    waiters = []
    switch answer {
    case .tokens(var renewed):
      // A provider that does not rotate it leaves it out (RFC 6749, section 6).
      renewed.refresh = renewed.refresh ?? tokens?.refresh
      renewed.id = renewed.id ?? tokens?.id
      tokens = renewed
      return [.store(renewed)] + waiting.map { .give($0, renewed) }
    case .error("invalid_grant"), .error("invalid_client"), .error("unauthorized_client"):
      tokens = nil
      return [.store(nil)] + waiting.map { .fail($0, Self.signInRequired) }
    case .error(let code):
      return late(waiting, OIDCError(.unreachable, "The provider did not renew the token: \(Self.plain(code))."), now)
    case .failed(let error): return late(waiting, error, now)
    }
  }

  /// The provider is in trouble: the present token serves as long as it is good.
  private func late(_ waiting: [Waiter], _ error: OIDCError, _ now: Int64) -> [Action] {
    guard let tokens, !mustRenew, tokens.end.map({ now < $0 }) ?? true else {
      return waiting.map { .fail($0, error) }
    }
    return waiting.map { .give($0, tokens) }
  }

  private static var signInRequired: OIDCError { OIDCError(.signInRequired, "No user is signed in.") }

  /// An error code of the provider's, as far as it is one.
  static func plain(_ code: String) -> String {
    String(code.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 }.prefix(64).map(Character.init))
  }
}
