/// How many values fall below each of some bounds: the form in which monitoring systems compute percentiles.
package struct Histogram: Sendable, Equatable {
  /// Upper bounds, ascending. A value counts for the first bound that it does not exceed.
  package let bounds: [Int64]
  /// One more than there are bounds; the last is for values above all of them.
  package private(set) var counts: [Int]
  /// The sum of all values.
  package private(set) var sum: Int64 = 0

  package init(_ bounds: [Int64]) {
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<), "a histogram's bounds ascend")
    self.bounds = bounds
    counts = [Int](repeating: 0, count: bounds.count + 1)
  }

  /// How many values were added.
  package var count: Int { counts.reduce(0, +) }

  /// Adds a value, as often as `times` says. Allocates nothing.
  package mutating func add(_ value: Int64, times: Int = 1) {
    var slot = 0
    while slot < bounds.count, value > bounds[slot] { slot += 1 }
    counts[slot] += times
    sum &+= value &* Int64(times)
  }

  /// Adds the values of another histogram, which has the same bounds.
  package mutating func add(_ other: Histogram) {
    precondition(bounds == other.bounds, "histograms are added that have the same bounds")
    for slot in counts.indices { counts[slot] += other.counts[slot] }
    sum &+= other.sum
  }

  /// Microseconds from a tenth of a millisecond to ten seconds.
  package static let microseconds: [Int64] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
  ]

  /// Sizes in powers of two, up to 1,024.
  package static let sizes: [Int64] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024]
}

extension Duration {
  /// Whole microseconds; zero for a negative duration.
  package var wholeMicroseconds: Int64 { max(0, wholeNanoseconds / 1_000) }
}
