/// Bounds on what is asked of a custom authorizer, each with its reason.
package struct AuthorizerLimits: Sendable, Hashable {
  /// How long one credential may wait for its answer, the time in the queue included. A connection waits as long.
  package var answerTimeout = Duration.seconds(5)
  /// How long an answer is kept that does not say so itself. AppSync keeps answers as long.
  package var cacheTime = Duration.seconds(300)
  /// The longest time for which an answer is kept, whatever it says: a mistake in it must end some day.
  package var longestCacheTime = Duration.seconds(86_400)
  /// Requests under way at once. An authorizer that answers in 20 ms decides about 3,000 callers a second.
  package var requests = 64
  /// Credentials that wait for a request. Each may have 16 KiB, so that they take 16 MiB at most.
  package var queuedCredentials = 1_024
  /// Callers that wait, over all credentials: equal credentials are asked about once.
  package var waiters = 10_000
  /// Answers that are kept. One takes about a kilobyte.
  package var cachedAnswers = 10_000
  /// Bytes of one answer. Claims of many groups take some kilobytes.
  package var answerBytes = 64 << 10
  /// Levels of arrays and objects in one answer, as in a token's claims.
  package var depth = 16

  /// The defaults.
  package init() {}
}
