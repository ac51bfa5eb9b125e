import MartletVocabulary
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
    keeper.signedIn(TokenSet(access: "a1", refresh: refresh, end: end))
    return keeper
  }

  private static func need(_ keeper: inout Keeper, _ waiter: Int, refused: Bool = false, at now: Int64 = 0) -> [String]
  {
    text(keeper.need(waiter, isRefused: refused, at: now))
  }

  private static func answer(_ keeper: inout Keeper, _ number: Int, _ answer: TokenAnswer, at now: Int64 = 0)
    -> [String]
  {
    text(keeper.received(number, answer, at: now))
  }

  @Test func `a fresh token is given, one that ends soon is renewed once for all waiting callers`() {
    var keeper = Self.keeper()
    #expect(Self.need(&keeper, 1) == ["1 gets a1"])
    #expect(Self.need(&keeper, 2, at: 89_999) == ["2 gets a1"])
    #expect(Self.need(&keeper, 3, at: 90_000) == ["refresh 1 r1"])
    #expect(Self.need(&keeper, 4, at: 90_001) == [])
    let renewed = TokenAnswer.tokens(TokenSet(access: "a2", refresh: "r2", end: 200_000))
    #expect(Self.answer(&keeper, 1, renewed) == ["store a2", "3 gets a2", "4 gets a2"])
    #expect(Self.answer(&keeper, 1, renewed) == [])
    #expect(Self.need(&keeper, 5, refused: true, at: 100_000) == ["refresh 2 r2"], "the refresh token is the new one")
  }

  @Test func `a refresh token that is not rotated stays`() {
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, refused: true)
    _ = Self.answer(&keeper, 1, .tokens(TokenSet(access: "a2")))
    #expect(Self.need(&keeper, 2, refused: true) == ["refresh 2 r1"])
    #expect(keeper.tokens?.access == "a2")
  }

  @Test func `a provider in trouble costs nothing while the token is good, unless the server has refused it`() {
    let trouble = TokenAnswer.failed(OIDCError(.unreachable, "x"))
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, at: 95_000)
    #expect(Self.answer(&keeper, 1, trouble, at: 95_001) == ["1 gets a1"])
    _ = Self.need(&keeper, 2, at: 99_000)
    #expect(Self.answer(&keeper, 2, trouble, at: 100_000) == ["2 unreachable"])
    _ = Self.need(&keeper, 3, refused: true, at: 1)
    #expect(Self.answer(&keeper, 3, .error("temporarily_unavailable"), at: 2) == ["3 unreachable"])
    #expect(Self.need(&keeper, 4) == ["4 gets a1"], "it is still signed in")
  }

  @Test func `a refresh token that is not good signs out, and without one the token serves until its end`() {
    var keeper = Self.keeper()
    _ = Self.need(&keeper, 1, refused: true)
    #expect(Self.answer(&keeper, 1, .error("invalid_grant")) == ["store nothing", "1 signInRequired"])
    #expect(Self.need(&keeper, 2) == ["2 signInRequired"])
    var other = Self.keeper(refresh: nil)
    #expect(Self.need(&other, 1, at: 99_999) == ["1 gets a1"])
    #expect(Self.need(&other, 2, at: 100_000) == ["2 signInRequired"])
    #expect(Self.need(&other, 3, refused: true) == ["3 signInRequired"])
    var third = Self.keeper()
    _ = Self.need(&third, 1, refused: true)
    #expect(Self.text(third.signOut()) == ["store nothing", "1 signInRequired"])
    #expect(
      Self.answer(&third, 1, .tokens(TokenSet(access: "late"))) == [], "a late answer signs no user in")
    #expect(third.tokens == nil)
  }

  @Test(arguments: [
    (200, #"{"access_token":"a","token_type":"Bearer","expires_in":60}"#, "a 61000"),
    (200, #"{"access_token":"a","token_type":"bearer"}"#, "a -"),
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

  @Test func `tokens that are kept are read again, and anything else is not`() {
    for tokens in [TokenSet(access: "a"), TokenSet(access: "a", refresh: "r", id: "i", end: 5)] {
      #expect(TokenSet(stored: tokens.stored) == tokens)
    }
    for text in ["", "[]", "{}", "{"] { #expect(TokenSet(stored: Array(text.utf8)) == nil) }
  }
}
