import MartletServer
import MartletVocabulary
import Testing

/// When the group of an offset was committed, and the histograms that are kept of it.
@Suite struct CommitTimesTests {
  private func instant(_ number: Int64) -> Instant { Instant(nanoseconds: number) }

  @Test func `an offset has the time of its group, and none when the group is unknown or forgotten`() {
    var times = CommitTimes(groups: 64)
    #expect(times.time(of: 1) == nil)
    times.note(instant(10), from: 5, to: 7)
    times.note(instant(20), from: 8, to: 8)
    times.note(instant(30), from: 9, to: 12)
    #expect([4, 5, 7, 8, 9, 12, 13].map { times.time(of: $0)?.nanoseconds } == [nil, 10, 10, 20, 30, 30, nil])
    for number in Int64(13)..<213 { times.note(instant(number), from: number, to: number) }
    #expect(times.time(of: 212) == instant(212) && times.time(of: 200) == instant(200))
    #expect(times.time(of: 12) == nil && times.time(of: 100) == nil)
  }

  @Test func `a histogram counts a value for the first bound that it does not exceed`() {
    var histogram = Histogram([1, 10, 100])
    for value: Int64 in [0, 1, 2, 10, 11, 100, 101] { histogram.add(value) }
    #expect(histogram.counts == [2, 2, 2, 1] && histogram.count == 7 && histogram.sum == 225)
    var other = Histogram([1, 10, 100])
    other.add(5)
    histogram.add(other)
    #expect(histogram.counts == [2, 3, 2, 1] && histogram.sum == 230)
  }
}
