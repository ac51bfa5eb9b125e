/// Bounds on fetching a published key set.
package struct KeySetLimits: Sendable, Hashable {
  /// How long a set is used without a look at its source, where the answer does not say. Providers announce new keys
  /// hours before they sign with them.
  package var defaultAge = Duration.seconds(900)
  /// The least of it, whatever the answer says: `max-age=0` must not cause a request for each token.
  package var leastAge = Duration.seconds(60)
  /// The most of it, whatever the answer says: a withdrawn key must not stay good for a year.
  package var greatestAge = Duration.seconds(86_400)
  /// The least time between two fetches that tokens with unknown keys cause: any client can send such tokens.
  package var unknownKeyPause = Duration.seconds(30)
  /// How long keys stay good after the last answer when their source fails: a night and a day of an outage.
  package var outage = Duration.seconds(86_400)
  /// The pause after a first failure; it doubles with each further one.
  package var firstPause = Duration.seconds(1)
  /// The longest pause between attempts.
  package var greatestPause = Duration.seconds(300)
  /// How long one answer may take, from the request to its last byte.
  package var answerTimeout = Duration.seconds(10)
  /// Bytes of a discovery document; known ones have 2 to 5 KiB.
  package var discoveryBytes = 65_536
  /// Bytes of a key set; ten keys with certificate chains have 50 KiB.
  package var keySetBytes = 524_288
  /// Keys of a key set. Providers publish two to ten; more would only cost memory and time.
  package var keys = 100
  /// Bits of an RSA modulus in it: one check costs as the square of them, and no known issuer uses longer ones.
  package var keyBits = 8_192
  /// Tokens that may wait for one fetch; each is a connection that waits to be admitted.
  package var waiters = 1_024

  /// The defaults.
  package init() {}
}
