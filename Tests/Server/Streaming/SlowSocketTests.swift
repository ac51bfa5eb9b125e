import MartletRuntime
import MartletVocabulary
import MartletWire
import Testing

/// Slow and dead WebSocket peers distinguished: a pong cannot overtake what was sent before the ping.
@Suite struct SlowSocketTests {
  private static func machine(at start: Instant) -> WebSocketMachine {
    var limits = WebSocketLimits()
    limits.pingInterval = .seconds(12)
    limits.pongTimeout = .seconds(12)
    return WebSocketMachine(role: .server, limits: limits, at: start)
  }

  @Test func `a peer that is still reading gets more time for its pong, and a silent one does not`() {
    let start = Instant(nanoseconds: 0)
    for isReading in [true, false] {
      var machine = Self.machine(at: start)
      var output: [UInt8] = []
      var events: [WebSocketEvent] = []
      machine.reachedDeadline(at: start + .seconds(12), output: &output, events: &events)
      #expect(machine.awaitsPong && !output.isEmpty && events.isEmpty)
      let due = start + .seconds(24)
      #expect(machine.nextDeadline == due)
      if isReading { machine.prolongPong(at: due) }
      machine.reachedDeadline(at: due, output: &output, events: &events)
      #expect(events.isEmpty == isReading)
      #expect(machine.canSend == isReading)
      if isReading { #expect(machine.nextDeadline == due + .seconds(12)) }
    }
  }

  @Test func `unread bytes that shrink are a sign of life, unread bytes that stay are not`() {
    func reading(_ acknowledged: Int, _ unread: Int) -> PeerReading {
      PeerReading(acknowledged: acknowledged, unread: unread)
    }
    let before = reading(1_000, 500)
    #expect(reading(1_200, 300).isMoving(since: before) && !reading(1_200, 300).isStalled(since: before))
    // More was written than was read: the peer reads all the same.
    #expect(reading(1_001, 9_000).isMoving(since: before))
    #expect(!reading(1_000, 500).isMoving(since: before) && reading(1_000, 500).isStalled(since: before))
    // A peer without anything to read shows nothing, neither life nor its end.
    #expect(!reading(1_500, 0).isMoving(since: before) && !reading(1_500, 0).isStalled(since: before))
    #expect(!before.isMoving(since: nil) && !before.isStalled(since: nil))
    #expect(!reading(1_000, 10).isStalled(since: reading(1_000, 0)))
  }
}
