internal import MartletRuntime
internal import MartletVocabulary

/// Where a client's chance comes from: jitter, masks, the names of writers.
///
/// Every user takes a generator of its own, so that two sockets never mask alike and two clients never share a name,
/// also where all of it follows from one seed.
package final class Chance: Sendable {
  /// Nil: the system's.
  private let seeded: Lock<SeededRandom>?

  private init(_ seeded: SeededRandom?) {
    self.seeded = seeded.map { Lock($0) }
  }

  /// Chance that follows from a seed.
  package convenience init(seed: UInt64) { self.init(SeededRandom(seed: seed)) }

  /// The system's chance, unpredictable.
  package static let system = Chance(nil)

  /// A generator of the caller's own.
  package func fork() -> any RandomNumberGenerator & Sendable {
    guard let seeded else { return SystemChance.generator() }
    return SeededRandom(seed: seeded.withLock { $0.next() })
  }

  /// A number that is given out once.
  package func next() -> UInt64 {
    var generator: any RandomNumberGenerator = fork()
    return generator.next()
  }
}
