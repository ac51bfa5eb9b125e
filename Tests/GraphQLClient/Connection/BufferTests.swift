import MartletGraphQLClient
import MartletVocabulary
import Testing

@Suite struct BufferTests {
  private func event(_ offset: Int64) -> SubscriptionEvent {
    SubscriptionEvent(payload: [1], cursor: Cursor(term: 1, offset: offset))
  }

  private func drained(_ overflow: BufferPolicy.Overflow) -> [String] {
    var buffer = EventBuffer(BufferPolicy(overflow, events: 3))
    for offset in 1...6 { _ = buffer.append(event(Int64(offset))) }
    var seen: [String] = []
    while let event = buffer.take() {
      if let gap = event.gap {
        seen.append("gap \(gap.from?.offset ?? 0)-\(gap.to?.offset ?? 0) dropped \(gap.dropped ?? 0)")
      } else {
        seen.append("\(event.cursor?.offset ?? 0)")
      }
    }
    return seen
  }

  @Test func `each policy that drops leaves one gap in the place of what it dropped`() {
    #expect(drained(.wait) == ["1", "2", "3", "4", "5", "6"])
    #expect(drained(.dropNewest) == ["1", "2", "3", "gap 3-6 dropped 3"])
    #expect(drained(.dropOldest) == ["gap 0-4 dropped 4", "5", "6"])
    #expect(drained(.fail) == ["1", "2", "3"])
  }

  @Test func `the pause before an attempt doubles, is capped, and is spread downwards`() {
    var random = SeededRandom(seed: 7)
    var policy = ReconnectPolicy()
    policy.jitter = 0
    let full = (1...10).map { policy.delay(afterFailures: $0, using: &random) }
    #expect(full[0] == .milliseconds(500) && full[1] == .seconds(1) && full[5] == .seconds(16))
    #expect(full[6] == .seconds(30) && full[9] == .seconds(30))
    policy.jitter = 0.5
    for failures in 1...10 {
      let delay = policy.delay(afterFailures: failures, using: &random)
      #expect(delay <= full[failures - 1] && delay >= full[failures - 1] / 2)
    }
  }
}
