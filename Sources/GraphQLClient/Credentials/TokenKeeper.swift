/// Decides when tokens are renewed: one request at a time, however many callers wait; a refresh token is used once.
///
/// A token that is good is given at once, also while another is asked for, so that a provider that is slow or away
/// costs nothing before its end. Times are milliseconds since 1970.
struct TokenKeeper<Waiter: Sendable>: Sendable {
  /// What a caller needs a token for.
  enum Need: Sendable {
    /// The present token, while it is good.
    case any
    /// Another, because the present one ends soon; the present one where there is none.
    case another
    /// Another, because the server refused the present one.
    case refused
  }

  enum Action: Sendable {
    /// Send the refresh token; report `received` with the same number.
    case refresh(Int, String)
    /// Keep these tokens, or none, before anything else that follows.
    case store(TokenSet?)
    case give(Waiter, TokenSet)
    case fail(Waiter, OIDCError)
  }

  /// What is done about tokens that another process has kept.
  enum Adoption: Sendable {
    /// They are none that are newer.
    case none
    /// They are the present ones now, and are to be renewed.
    case refresh(String)
    /// They are the present ones now, and serve.
    case done([Action])
  }

  /// How long a provider is left alone after it has failed, while the present token is good.
  private static var pause: Int64 { 10_000 }

  private(set) var tokens: TokenSet?
  private let lead: Int64
  private var refreshing: Int?
  private var lastNumber = 0
  private var waiters: [(waiter: Waiter, isRefused: Bool)] = []
  /// When the provider may be asked again for a token that only ends soon.
  private var askedAgain: Int64?

  init(lead: Int64) { self.lead = lead }

  /// A user signed in, or tokens were found in a storage. Callers that wait for other tokens get these.
  mutating func signedIn(_ tokens: TokenSet) -> [Action] {
    self.tokens = tokens
    // What an earlier refresh brings is not for these.
    return ended().map { .give($0.waiter, tokens) }
  }

  /// The user signs out.
  mutating func signOut() -> [Action] {
    tokens = nil
    return [.store(nil)] + ended().map { .fail($0.waiter, Self.signInRequired) }
  }

  /// No refresh is under way any longer; those that wait for it.
  private mutating func ended() -> [(waiter: Waiter, isRefused: Bool)] {
    refreshing = nil
    askedAgain = nil
    defer { waiters = [] }
    return waiters
  }

  /// A token is needed.
  mutating func need(_ waiter: Waiter, _ need: Need, at now: Int64) -> [Action] {
    guard let tokens else { return [.fail(waiter, Self.signInRequired)] }
    let isGood = need != .refused && isGood(tokens, at: now)
    if isGood, isFresh(tokens, at: now) { return [.give(waiter, tokens)] }
    guard let refresh = tokens.refresh else {
      return [isGood ? .give(waiter, tokens) : .fail(waiter, Self.signInRequired)]
    }
    let mayAsk = refreshing == nil && !(isGood && askedAgain.map { now < $0 } ?? false)
    let waits = !isGood || need == .another && (mayAsk || refreshing != nil)
    if waits { waiters.append((waiter, need == .refused)) }
    let given: [Action] = waits ? [] : [.give(waiter, tokens)]
    guard mayAsk else { return given }
    lastNumber += 1
    refreshing = lastNumber
    return [.refresh(lastNumber, refresh)] + given
  }

  private func isGood(_ tokens: TokenSet, at now: Int64) -> Bool { tokens.end.map { now < $0 } ?? true }

  /// Whether a token is used without asking for another. A short one is used for half of its lifetime at least: it
  /// would be renewed for each request otherwise.
  private func isFresh(_ tokens: TokenSet, at now: Int64) -> Bool {
    guard let end = tokens.end else { return true }
    return now < end - min(lead, tokens.life.map { $0 / 2 } ?? lead)
  }

  /// What a storage holds while tokens are being renewed: another process may have renewed them, and a refresh token
  /// that is used twice may end them all.
  mutating func found(_ kept: TokenSet, for number: Int, at now: Int64) -> Adoption {
    guard refreshing == number else { return .done([]) }
    guard let tokens, let refresh = kept.refresh, refresh != tokens.refresh else { return .none }
    if let end = kept.end, let present = tokens.end, end < present { return .none }
    self.tokens = kept
    guard isFresh(kept, at: now) else { return .refresh(refresh) }
    return .done(ended().map { .give($0.waiter, kept) })
  }

  /// The provider's answer to a refresh.
  mutating func received(_ number: Int, _ answer: TokenAnswer, at now: Int64) -> [Action] {
    guard refreshing == number else { return [] }
    let waiting = ended()
    switch answer {
    case .tokens(var renewed):
      // A provider that does not rotate it leaves it out (RFC 6749, section 6).
      renewed.refresh = renewed.refresh ?? tokens?.refresh
      renewed.id = renewed.id ?? tokens?.id
      tokens = renewed
      return [.store(renewed)] + waiting.map { .give($0.waiter, renewed) }
    case let answer where answer.endsRefreshToken:
      tokens = nil
      return [.store(nil)] + waiting.map { .fail($0.waiter, Self.signInRequired) }
    case .error(let code):
      return late(waiting, OIDCError(.unreachable, "The provider did not renew the token: \(Self.plain(code))."), now)
    case .failed(let error): return late(waiting, error, now)
    }
  }

  /// The provider is in trouble: the present token serves as long as it is good, but those whose server refused it.
  private mutating func late(
    _ waiting: [(waiter: Waiter, isRefused: Bool)], _ error: OIDCError, _ now: Int64
  ) -> [Action] {
    askedAgain = now + Self.pause
    return waiting.map { waiter, isRefused in
      if let tokens, !isRefused, isGood(tokens, at: now) { .give(waiter, tokens) } else { .fail(waiter, error) }
    }
  }

  private static var signInRequired: OIDCError { OIDCError(.signInRequired, "No user is signed in.") }

  /// An error code of the provider's, as far as it is one.
  static func plain(_ code: String) -> String {
    String(code.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 }.prefix(64).map(Character.init))
  }
}

extension TokenKeeper.Need {
  init(_ reason: CredentialReason) {
    switch reason {
    case .connecting, .request: self = .any
    case .expiring: self = .another
    case .refused: self = .refused
    }
  }
}
