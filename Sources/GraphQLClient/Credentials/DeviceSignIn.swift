internal import MartletJSON
internal import MartletVocabulary

/// What a user is shown to sign in on another device (RFC 8628, section 3.2).
public struct DeviceCode: Sendable, Hashable {
  /// The code to type in.
  public let userCode: String
  /// The page to open.
  public let page: String
  /// The same with the code in it, for a QR code; nil where the provider has none.
  public let pageWithCode: String?
  /// How long the provider waits, from when it was asked.
  public let life: Duration
}

/// Asks a provider whether a user has signed in on another device, as often as it allows (RFC 8628, section 3.5).
struct DeviceSignIn: Sendable {
  enum Action: Sendable, Hashable {
    /// Ask at this time, with the code of the device; then report `received`.
    case ask(at: Instant, deviceCode: String)
    case done(TokenSet)
    case fail(OIDCError)
  }

  let code: DeviceCode
  private let deviceCode: String
  private let end: Instant
  private var interval: Duration

  /// Reads the answer of the device endpoint.
  init(status: Int, body: [UInt8], at now: Instant) throws(OIDCError) {
    guard status == 200, let members = (try? JSONValue(parsing: body))?.object else {
      throw OIDCError(status == 200 ? .malformed : .unreachable, "The provider gives no code (status \(status)).")
    }
    guard let device = members["device_code"]?.string, let user = members["user_code"]?.string,
      let page = (members["verification_uri"] ?? members["verification_url"])?.string,
      let life = members["expires_in"]?.seconds, (1...86_400).contains(life)
    else { throw OIDCError(.malformed, "The provider's answer has no code that can be used.") }
    deviceCode = device
    interval = .seconds(members["interval"]?.seconds.map { max(1, min($0, 300)) } ?? 5)
    end = now + .seconds(life)
    code = DeviceCode(
      userCode: user, page: page, pageWithCode: members["verification_uri_complete"]?.string, life: .seconds(life))
  }

  /// When to ask first.
  func first(at now: Instant) -> Action { .ask(at: now + interval, deviceCode: deviceCode) }

  /// The provider's answer.
  mutating func received(_ answer: TokenAnswer, at now: Instant) -> Action {
    switch answer {
    case .tokens(let tokens): return .done(tokens)
    case .error("authorization_pending"): break
    case .error("slow_down"): interval += .seconds(5)
    case .error("access_denied"): return .fail(OIDCError(.refused, "The user refused to sign in."))
    case .error("expired_token"): return .fail(Self.late)
    case .error(let code):
      return .fail(OIDCError(.refused, "The provider refused to sign in: \(TokenKeeper<Int>.plain(code))."))
    // After a failure of the network the interval is doubled, as the specification asks.
    case .failed(let error) where error.code == .unreachable: interval = min(interval * 2, .seconds(300))
    case .failed(let error): return .fail(error)
    }
    let next = now + interval
    return next < end ? .ask(at: next, deviceCode: deviceCode) : .fail(Self.late)
  }

  private static var late: OIDCError { OIDCError(.expired, "The code is no longer good: ask for another one.") }
}
