import MartletVocabulary
import MartletWire
import Testing

@testable import MartletGraphQLClient

/// When tokens are renewed, as transcripts.
@Suite struct TokenKeeperTests {
  private typealias Keeper = TokenKeeper<Int>

  private static func text(_ actions: [Keeper.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .refresh(let number, let token): "refresh \(number) \(token)"
      case .store(let tokens): "store \(tokens?.access ?? "nothing")"
      case .give(let waiter, let tokens): "\(waiter) gets \(tokens.access)"
      case .fail(let waiter, let error): "\(waiter) \(error.code.rawValue)"
      }
    }
  }

  private static func keeper(end: Int64? = 100_000, refresh: String? = "r1") -> Keeper {
    var keeper = Keeper(lead: 10_000)
    _ = keeper.signedIn(TokenSet(access: "a1", refresh: refresh, end: end))
    return keeper
  }

  private static func need(_ keeper: inout Keeper, _ waiter: Int, _ need: Keeper.Need = .any, at now: Int64 = 0)
    -> [String]
  {
    text(keeper.need(waiter, need, at: now))
  }

  private static func answer(_ keeper: inout Keeper, _ number: Int, _ answer: TokenAnswer, at now: Int64 = 0)
    -> [String]
  {
    text(keeper.received(number, answer, at: now))
  }

  @Test func `a fresh token is given, and one that ends soon while it is renewed once for all callers`() {
    var keeper = Self.keeper()
    #expect(Self.need(&keeper, 1) == ["1 gets a1"])
    #expect(Self.need(&keeper, 2, .another, at: 89_999) == ["2 gets a1"])
    #expect(Self.need(&keeper, 3, at: 90_000) == ["refresh 1 r1", "3 gets a1"])
    #expect(Self.need(&keeper, 4, at: 90_001) == ["4 gets a1"])
    #expect(Self.need(&keeper, 5, .another, at: 90_002) == [])
    #expect(Self.need(&keeper, 6, .refused, at: 90_003) == [])
    #expect(Self.need(&keeper, 7, at: 100_000) == [], "it has ended")
    let renewed = TokenAnswer.tokens(TokenSet(access: "a2", refresh: "r2", end: 200_000))
    #expect(Self.answer(&keeper, 1, renewed) == ["store a2", "5 gets a2", "6 gets a2", "7 gets a2"])
    #expect(Self.answer(&keeper, 1, renewed) == [])
    #expect(Self.need(&keeper, 8, .refused, at: 100_000) == ["refresh 2 r2"], "the refresh token is the new one")
  }

  @Test func `a token that is good for less than the lead is not renewed for each request`() {
    var keeper = Keeper(lead: 60_000)
    let body = #"{"access_token":"a1","token_type":"bearer","refresh_token":"r1","expires_in":60}"#
    let first = TokenAnswer(status: 200, body: Array(body.utf8), at: 0)
    guard case .tokens(let tokens) = first else { return #expect(Bool(false), "no tokens") }
    _ = keeper.signedIn(TokenSet(stored: tokens.stored) ?? tokens)
    #expect(Self.need(&keeper, 1, at: 1) == ["1 gets a1"])
    #expect(Self.need(&keeper, 2, .another, at: 29_999) == ["2 gets a1"])
    #expect(Self.need(&keeper, 3, at: 30_000) == ["refresh 1 r1", "3 gets a1"])
  }

  @Test func `a refresh token that is not rotated stays`() {
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, .refused)
    _ = Self.answer(&keeper, 1, .tokens(TokenSet(access: "a2")))
    #expect(Self.need(&keeper, 2, .refused) == ["refresh 2 r1"])
    #expect(keeper.tokens?.access == "a2")
  }

  @Test func `a provider in trouble costs nothing while the token is good, unless the server has refused it`() {
    let trouble = TokenAnswer.failed(OIDCError(.unreachable, "x"))
    var keeper = Self.keeper()
    #expect(Self.need(&keeper, 1, .another, at: 95_000) == ["refresh 1 r1"])
    #expect(Self.need(&keeper, 2, .refused, at: 95_000) == [])
    #expect(Self.answer(&keeper, 1, trouble, at: 95_001) == ["1 gets a1", "2 unreachable"])
    _ = Self.need(&keeper, 2, .refused, at: 99_000)
    #expect(Self.answer(&keeper, 2, trouble, at: 100_000) == ["2 unreachable"])
    _ = Self.need(&keeper, 3, .refused, at: 1)
    #expect(Self.answer(&keeper, 3, .error("temporarily_unavailable"), at: 2) == ["3 unreachable"])
    #expect(Self.need(&keeper, 4) == ["4 gets a1"], "it is still signed in")
  }

  @Test func `a provider that has failed is left alone for a while, but not once the token has ended`() {
    let trouble = TokenAnswer.failed(OIDCError(.unreachable, "x"))
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, at: 90_000)
    #expect(Self.answer(&keeper, 1, trouble, at: 90_100) == [])
    #expect(Self.need(&keeper, 2, at: 90_200) == ["2 gets a1"])
    #expect(Self.need(&keeper, 3, .another, at: 95_000) == ["3 gets a1"])
    var refused = keeper
    #expect(Self.need(&refused, 4, .refused, at: 95_001) == ["refresh 2 r1"])
    var ended = keeper
    #expect(Self.need(&ended, 4, at: 100_000) == ["refresh 2 r1"])
    var later = Keeper(lead: 20_000)
    _ = later.signedIn(TokenSet(access: "a1", refresh: "r1", end: 100_000))
    _ = Self.need(&later, 1, at: 80_000)
    _ = Self.answer(&later, 1, trouble, at: 80_000)
    #expect(Self.need(&later, 2, at: 90_000) == ["refresh 2 r1", "2 gets a1"])
  }

  @Test func `callers that wait for other tokens get those of a user who signs in meanwhile`() {
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, .refused)
    #expect(Self.text(keeper.signedIn(TokenSet(access: "b1", refresh: "s1", end: 100_000))) == ["1 gets b1"])
    #expect(Self.answer(&keeper, 1, .error("invalid_grant")) == [])
    #expect(Self.need(&keeper, 2) == ["2 gets b1"])
  }

  @Test func `newer tokens of another process are taken, and its refresh token in place of one that was used`() {
    func adoption(_ keeper: inout Keeper, _ kept: TokenSet, for number: Int = 1, at now: Int64 = 90_000) -> [String] {
      switch keeper.found(kept, for: number, at: now) {
      case .none: ["none"]
      case .refresh(let token): ["refresh \(token)"]
      case .done(let actions): Self.text(actions)
      }
    }
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, .refused, at: 90_000)
    #expect(adoption(&keeper, TokenSet(access: "a1", refresh: "r1", end: 100_000)) == ["none"])
    #expect(adoption(&keeper, TokenSet(access: "a0", refresh: "r0", end: 99_000)) == ["none"], "it is older")
    #expect(adoption(&keeper, TokenSet(access: "a2", end: 200_000)) == ["none"], "it cannot be renewed")
    #expect(adoption(&keeper, TokenSet(access: "a2", refresh: "r2", end: 200_000), for: 0) == [])
    var soon = keeper
    #expect(adoption(&soon, TokenSet(access: "a2", refresh: "r2", end: 100_001), at: 90_001) == ["refresh r2"])
    #expect(Self.answer(&soon, 1, .tokens(TokenSet(access: "a3"))) == ["store a3", "1 gets a3"])
    #expect(soon.tokens?.refresh == "r2")
    #expect(adoption(&keeper, TokenSet(access: "a2", refresh: "r2", end: 200_000)) == ["1 gets a2"])
    #expect(Self.need(&keeper, 2, at: 90_000) == ["2 gets a2"])
  }

  @Test func `a refresh token that is not good signs out, and without one the token serves until its end`() {
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, .refused)
    #expect(Self.answer(&keeper, 1, .error("invalid_grant")) == ["store nothing", "1 signInRequired"])
    #expect(Self.need(&keeper, 2) == ["2 signInRequired"])
    var other = Self.keeper(refresh: nil)
    #expect(Self.need(&other, 1, at: 99_999) == ["1 gets a1"])
    #expect(Self.need(&other, 2, at: 100_000) == ["2 signInRequired"])
    #expect(Self.need(&other, 3, .refused) == ["3 signInRequired"])
    var third = Self.keeper()
    _ = Self.need(&third, 1, .refused)
    #expect(Self.text(third.signOut()) == ["store nothing", "1 signInRequired"])
    #expect(
      Self.answer(&third, 1, .tokens(TokenSet(access: "late"))) == [], "a late answer signs no user in")
    #expect(third.tokens == nil)
  }

  @Test(arguments: [
    (200, #"{"access_token":"a","token_type":"Bearer","expires_in":60}"#, "a 61000"),
    (200, #"{"access_token":"a","token_type":"bearer"}"#, "a -"),
    (200, #"{"access_token":"a","token_type":"bearer","expires_in":"60"}"#, "a 61000"),
    (200, #"{"access_token":"a","token_type":"bearer","expires_in":"soon"}"#, "a -"),
    (200, #"{"access_token":"a","token_type":"mac"}"#, "malformed"), (200, #"{"token_type":"bearer"}"#, "malformed"),
    (200, #"{"access_token":"a\nb","token_type":"bearer"}"#, "malformed"), (200, "<html>", "malformed"),
    (400, #"{"error":"invalid_grant"}"#, "error invalid_grant"), (400, "x", "unreachable"), (503, "{}", "unreachable"),
    (302, "", "unreachable"),
  ])
  func `answers of a token endpoint are read by the specification`(status: Int, body: String, expected: String) {
    let text =
      switch TokenAnswer(status: status, body: Array(body.utf8), at: 1_000) {
      case .tokens(let tokens): "\(tokens.access) \(tokens.end.map { "\($0)" } ?? "-")"
      case .error(let code): "error \(code)"
      case .failed(let error): error.code.rawValue
      }
    #expect(text == expected)
  }

  @Test func `where the id token is shown its own end counts, and one that no header field can hold is none`() {
    func tokens(_ id: String, shown: Bool) -> TokenSet? {
      let body = #"{"access_token":"a","token_type":"bearer","expires_in":3600,"id_token":"\#(id)"}"#
      guard
        case .tokens(let tokens) = TokenAnswer(status: 200, body: Array(body.utf8), at: 1_000, showsIDToken: shown)
      else { return nil }
      return tokens
    }
    func id(_ claims: String) -> String { "e30.\(Base64.encodeForURL(Array(claims.utf8))).x" }
    let short = id(#"{"iat":5000,"exp":5300}"#)
    #expect(tokens(short, shown: true)?.end == 301_000)
    #expect(tokens(short, shown: true)?.life == 300_000)
    #expect(tokens(short, shown: false)?.end == 3_601_000)
    for other in [id("{}"), id(#"{"iat":5300,"exp":5000}"#), id("x"), "a.b", #"a.b\r\nc.d"#] {
      #expect(tokens(other, shown: true)?.end == 3_601_000, "\(other)")
    }
    #expect(tokens(#"a\r\nb"#, shown: true)?.id == nil)
  }

  @Test func `tokens that are kept are read again, and anything else is not`() {
    for tokens in [TokenSet(access: "a"), TokenSet(access: "a", refresh: "r", id: "i", end: 5, life: 4)] {
      #expect(TokenSet(stored: tokens.stored) == tokens)
    }
    for text in ["", "[]", "{}", "{"] { #expect(TokenSet(stored: Array(text.utf8)) == nil) }
  }
}
