extension ServerLimits {
  /// Bounds of tokens, which are read before their signature is checked, and of the key sets for checking them.
  public struct Access: Sendable {
    // MARK: Tokens

    /// Bytes of a whole token. Providers stay below 8 KiB, because HTTP servers commonly refuse longer headers.
    public var tokenBytes = 16_384
    /// Bytes of a token's decoded header. A certificate chain in it is ignored, but takes room.
    public var tokenHeaderBytes = 8_192
    /// Levels of arrays and objects in a token's header and claims. Known claims have three.
    public var tokenDepth = 16
    /// Bytes of an `Authorization` field with a signature of AWS's kind. Clients send about 300.
    public var signatureBytes = 4_096
    /// Fields that one such signature may name. Requests have about ten.
    public var signatureFields = 64
    /// Keys tried for a token that names none. Each costs one signature check, so that a token without `kid` must not
    /// cost as many as the set has keys.
    public var keysTried = 4
    /// Verified tokens of one issuer that are remembered: 10,000 callers that reconnect at once cost one signature
    /// check each, and some 20 MB.
    public var rememberedTokens = 10_000

    // MARK: Key sets

    /// How long a key set is used without a look at its source, where the answer does not say. Providers announce new
    /// keys hours before they sign with them.
    public var keySetAge: Duration = .seconds(900)
    /// The shortest time that an answer can set for it: `max-age=0` must not cause a request for each token.
    public var leastKeySetAge: Duration = .seconds(60)
    /// The longest time that an answer can set for it: a withdrawn key must not stay good for a year.
    public var greatestKeySetAge: Duration = .seconds(86_400)
    /// The least time between two fetches that tokens with unknown keys cause: any client can send such tokens.
    public var unknownKeyPause: Duration = .seconds(30)
    /// How long keys stay good after the last answer when their source fails: a night and a day of an outage.
    public var keySetOutage: Duration = .seconds(86_400)
    /// The pause after a first failed fetch; it doubles with each further one.
    public var firstKeySetPause: Duration = .seconds(1)
    /// The longest pause between attempts to fetch a key set.
    public var greatestKeySetPause: Duration = .seconds(300)
    /// How long one answer with keys may take, from the request to its last byte.
    public var keySetTimeout: Duration = .seconds(10)
    /// Bytes of a discovery document; known ones have 2 to 5 KiB.
    public var discoveryBytes = 65_536
    /// Bytes of a key set; ten keys with certificate chains have 50 KiB.
    public var keySetBytes = 524_288
    /// Keys of one published key set. Providers publish two to ten; more would only cost memory.
    public var keySetKeys = 100
    /// Bits of a published RSA key, at most 16,384, which OpenSSL takes: one check costs as the square of them, and no
    /// known issuer uses longer ones.
    public var keyBits = 8_192
    /// Tokens that may wait for one fetch of a key set; each is a connection that waits to be admitted.
    public var keySetWaiters = 1_024

    // MARK: A custom authorizer

    /// Requests to the authorizer under way at once. One that answers in 20 ms decides about 3,000 callers a second.
    public var authorizerRequests = 64
    /// Credentials that wait for such a request. Each may have `tokenBytes`, so that they take 16 MiB at most.
    public var authorizerQueue = 1_024
    /// Callers that wait for the authorizer, over all credentials: equal ones are asked about once.
    public var authorizerWaiters = 10_000
    /// Answers of the authorizer that are kept, of about a kilobyte each.
    public var authorizerAnswers = 10_000
    /// Bytes of one answer of the authorizer. Claims of many groups take some kilobytes.
    public var authorizerAnswerBytes = 65_536
  }
}
