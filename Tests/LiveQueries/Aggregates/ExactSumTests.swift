import MartletLiveQueries
import MartletSimulation
import Testing

@Suite struct ExactSumTests {
  @Test func `a sum is rounded once, as the nearest double of the exact sum`() {
    var sum = ExactSum()
    for number in [1e300, 1, -1e300, 1e-300, -1] { sum.add(number) }
    #expect(sum.value == 1e-300)
    var tenths = ExactSum()
    for _ in 0..<10 { tenths.add(0.1) }
    #expect(tenths.value == 1)
    var small = ExactSum()
    small.add(Double.leastNonzeroMagnitude)
    small.add(Double.leastNonzeroMagnitude)
    #expect(small.value == 2 * Double.leastNonzeroMagnitude)
    var large = ExactSum()
    large.add(Double.greatestFiniteMagnitude)
    large.add(Double.greatestFiniteMagnitude)
    #expect(large.value == .infinity)
    large.subtract(Double.greatestFiniteMagnitude)
    #expect(large.value == .greatestFiniteMagnitude)
    // Halfway between two doubles goes to the even one, unless anything is below.
    var half = ExactSum()
    half.add(0x1p53)
    half.add(1.0)
    #expect(half.value == 0x1p53)
    half.add(0x1p-1000)
    #expect(half.value == 0x1p53 + 2)
  }

  @Test func `whole numbers are summed as whole numbers`() {
    var sum = ExactSum()
    sum.add(Int64.max)
    #expect(sum.whole == .max)
    sum.add(Int64(1))
    #expect(sum.whole == nil && sum.value == 0x1p63)
    sum.subtract(Int64.max)
    #expect(sum.whole == 1)
    sum.add(Int64.min)
    sum.subtract(Int64(1))
    #expect(sum.whole == .min)
    sum.add(0.5)
    #expect(sum.whole == nil)
  }

  @Test func `numbers that are taken out leave no trace, in any order`() {
    var random = RandomPredicates(seed: 3)
    var kept: [Double] = []
    var sum = ExactSum()
    for _ in 0..<2_000 {
      if kept.count > 20, random.chance(2) {
        sum.subtract(kept.remove(at: random.count(below: kept.count)))
      } else {
        let number = Double(bitPattern: random.random.next())
        guard number.isFinite else { continue }
        kept.append(number)
        sum.add(number)
      }
    }
    var fresh = ExactSum()
    for number in kept.reversed() { fresh.add(number) }
    #expect(sum == fresh)
    #expect(sum.value == fresh.value)
  }
}
