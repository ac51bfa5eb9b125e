/// The system's random source: the one place production code takes chance from. Simulations pass a `SeededRandom`.
package enum SystemChance {
  /// A generator fit for keys, masks and terms.
  package static func generator() -> any RandomNumberGenerator & Sendable {
    SystemRandomNumberGenerator()
  }
}
