import MartletChannels
import MartletJSONTree
import MartletVocabulary
import Testing

/// What one channel delivers, in which order and how often.
@Suite struct DeliveryMachineTests {
  static func transaction(_ offset: Int64, _ count: Int = 1) -> ChannelTransaction {
    ChannelTransaction(
      offset: offset,
      events: (0..<count).map {
        ChannelEvent(id: "c-\(offset)-\($0)", number: $0, body: Array("\(offset).\($0)".utf8))
      })
  }

  static func policy(attempts: Int = 3, deadLetters: Int = 10) -> DeliveryPolicy {
    var policy = DeliveryPolicy()
    policy.attempts = attempts
    policy.deadLetters = deadLetters
    return policy
  }

  var chance = SeededRandom(seed: 1)

  @Test mutating func `events are sent one by one, in the order of the log`() {
    var machine = DeliveryMachine(after: 10)
    machine.append(Self.transaction(12, 2))
    machine.append(Self.transaction(15))
    #expect(machine.next(at: 0) == .send(Self.transaction(12, 2).events[0], attempt: 1))
    #expect(machine.next(at: 0) == .idle)
    #expect(machine.position == 10)
    #expect(machine.ended(.delivered, at: 1, &chance) == .delivered)
    #expect(machine.next(at: 1) == .send(Self.transaction(12, 2).events[1], attempt: 1))
    #expect(machine.ended(.delivered, at: 2, &chance) == .delivered)
    #expect(machine.position == 12)
    #expect(machine.next(at: 2) == .send(Self.transaction(15).events[0], attempt: 1))
    #expect(machine.ended(.delivered, at: 3, &chance) == .delivered)
    #expect(machine.next(at: 3) == .idle)
    #expect(machine.position == 15)
  }

  @Test mutating func `a machine that is rewound begins after its position, without what was settled`() {
    var machine = DeliveryMachine(after: 10)
    machine.append(Self.transaction(12, 2))
    machine.append(Self.transaction(15))
    machine.skip(to: 20)
    _ = machine.next(at: 0)
    _ = machine.ended(.delivered, at: 1, &chance)
    _ = machine.next(at: 1)
    machine.rewind()
    #expect(machine.position == 10)
    #expect(machine.followed == 10)
    #expect(machine.waitingEvents == 0)
    #expect(machine.next(at: 2) == .idle)
    machine.append(Self.transaction(12, 2))
    #expect(machine.next(at: 2) == .send(Self.transaction(12, 2).events[1], attempt: 1))
    var empty = DeliveryMachine(after: 10)
    empty.skip(to: 20)
    empty.rewind()
    #expect(empty.followed == 20)
  }

  @Test mutating func `a failed event is repeated after a pause that doubles, and holds back the next one`() throws {
    var machine = DeliveryMachine(after: 0, policy: Self.policy(attempts: 4))
    machine.append(Self.transaction(1))
    machine.append(Self.transaction(2))
    var now: Int64 = 0
    for (attempt, pause) in [(1, 1_000), (2, 2_000), (3, 4_000)] as [(Int, Int64)] {
      #expect(machine.next(at: now) == .send(Self.transaction(1).events[0], attempt: attempt))
      let settlement = machine.ended(.failed("500", retryAfter: nil), at: now, &chance)
      guard case .retries(let time)? = settlement else {
        Issue.record("\(String(describing: settlement))")
        return
      }
      #expect((pause / 2...pause).contains(time - now))
      #expect(machine.next(at: time - 1) == .wait(until: time))
      now = time
    }
    #expect(machine.next(at: now) == .send(Self.transaction(1).events[0], attempt: 4))
    #expect(machine.ended(.failed("the last", retryAfter: nil), at: now, &chance) == .died)
    #expect(machine.deadLetters.map(\.event.id) == ["c-1-0"])
    #expect(machine.deadLetters[0].attempts == 4)
    #expect(machine.deadLetters[0].reason == "the last")
    // A restart must not find the dead event untried after the next one has arrived.
    #expect(machine.next(at: now) == .idle)
    machine.recording()
    machine.recorded(true)
    #expect(machine.next(at: now) == .send(Self.transaction(2).events[0], attempt: 1))
  }

  @Test mutating func `a receiver's Retry-After lengthens the pause, up to the longest one`() {
    var machine = DeliveryMachine(after: 0)
    machine.append(Self.transaction(1))
    _ = machine.next(at: 0)
    #expect(machine.ended(.failed("", retryAfter: 50_000), at: 0, &chance) == .retries(at: 50_000))
    #expect(machine.next(at: 50_000) == .send(Self.transaction(1).events[0], attempt: 2))
    #expect(
      machine.ended(.failed("", retryAfter: .max), at: 50_000, &chance) == .retries(at: 50_000 + 3_600_000))
    // The clock was set back by a day.
    #expect(machine.next(at: -86_400_000) == .wait(until: -86_400_000 + 3_600_000))
  }

  @Test mutating func `a refused event is a dead letter at once, and can be delivered again or discarded`() {
    var machine = DeliveryMachine(after: 0)
    machine.append(Self.transaction(1))
    machine.append(Self.transaction(2))
    for _ in 0..<2 {
      _ = machine.next(at: 0)
      #expect(machine.ended(.refused("410"), at: 0, &chance) == .died)
      machine.recording()
      machine.recorded(true)
    }
    #expect(machine.position == 2)
    #expect(machine.redeliver("c-3-0") == false)
    #expect(machine.redeliver("c-2-0") == true)
    machine.append(Self.transaction(3))
    #expect(machine.next(at: 5) == .send(Self.transaction(2).events[0], attempt: 2))
    #expect(machine.ended(.delivered, at: 5, &chance) == .delivered)
    #expect(machine.deadLetters.map(\.event.id) == ["c-1-0"])
    #expect(machine.discard("c-1-0") == true)
    #expect(machine.deadLetters.isEmpty)
    #expect(machine.next(at: 6) == .send(Self.transaction(3).events[0], attempt: 1))
  }

  @Test mutating func `a channel without room for another dead letter waits, and loses nothing`() {
    var machine = DeliveryMachine(after: 0, policy: Self.policy(attempts: 1, deadLetters: 1))
    machine.append(Self.transaction(1))
    machine.append(Self.transaction(2))
    _ = machine.next(at: 0)
    #expect(machine.ended(.failed("", retryAfter: nil), at: 0, &chance) == .died)
    machine.recording()
    machine.recorded(true)
    #expect(machine.next(at: 0) == .blocked)
    #expect(machine.discard("c-1-0") == true)
    #expect(machine.next(at: 0) == .send(Self.transaction(2).events[0], attempt: 1))
  }

  @Test mutating func `a queue has room for so many events and bytes`() {
    var policy = DeliveryPolicy()
    policy.queuedEvents = 2
    var machine = DeliveryMachine(after: 0, policy: policy)
    machine.append(Self.transaction(1))
    #expect(machine.hasRoom)
    machine.append(Self.transaction(2))
    #expect(!machine.hasRoom)
    _ = machine.next(at: 0)
    _ = machine.ended(.delivered, at: 0, &chance)
    #expect(machine.hasRoom)
  }

  @Test mutating func `a record keeps position, attempts and dead letters`() throws {
    var machine = DeliveryMachine(after: 0, keys: ["a"], policy: Self.policy(attempts: 2))
    var transaction = Self.transaction(4, 3)
    transaction.existence = [("b", true), ("a", false)]
    machine.append(Self.transaction(1))
    machine.append(transaction)
    _ = machine.next(at: 0)
    _ = machine.ended(.refused("no"), at: 0, &chance)
    machine.recording()
    machine.recorded(true)
    _ = machine.next(at: 0)
    _ = machine.ended(.delivered, at: 0, &chance)
    _ = machine.next(at: 0)
    _ = machine.ended(.failed("x", retryAfter: nil), at: 7, &chance)
    var record = machine.record
    record.term = 0xFEED
    let read = try ChannelRecord(record.bytes)
    #expect(read == record)
    #expect(read.offset == 1)
    #expect(read.settledNumber == 1)
    #expect(read.attempts == 1)
    #expect(read.keys == ["a"])
    var later = DeliveryMachine(read, policy: Self.policy(attempts: 2))
    #expect(later.deadLetters.map(\.event.id) == ["c-1-0"])
    later.skip(to: 3)
    later.append(transaction)
    let retry = try #require(read.retryTime)
    #expect(later.next(at: 0) == .wait(until: retry))
    #expect(later.next(at: retry) == .send(transaction.events[1], attempt: 2))
    _ = later.ended(.delivered, at: retry, &chance)
    _ = later.next(at: retry)
    _ = later.ended(.delivered, at: retry, &chance)
    #expect(later.record.keys == ["b"])
    #expect(later.position == 4)
  }

  @Test(arguments: [
    "", "{}", #"{"version":2,"term":"0","offset":1}"#, #"{"version":1,"term":"x","offset":1}"#,
    #"{"version":1,"term":"1","offset":-1}"#, #"{"version":1,"term":"1","offset":1,"dead":[{}]}"#,
  ])
  func `bytes that are not a record are refused`(text: String) {
    #expect(throws: ChannelError.self) { try ChannelRecord(Array(text.utf8)) }
  }
}
