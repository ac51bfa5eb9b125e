import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletSimulation
import Testing

@Suite struct SubscriptionIndexTests {
  static let created = ChangeChannel.model(0, .create)

  static func key(_ number: Int) -> GroupKey {
    GroupKey(schemaVersion: 1, document: [], operation: "", variables: Array(String(number).utf8))
  }

  /// A change of a record that nothing else is known of.
  static func change(_ channel: ChangeChannel, _ record: Record) -> Change {
    guard case .model(let model, let kind) = channel else { preconditionFailure("a channel of a model") }
    return Change(
      offset: 1, endsTransaction: true,
      body: .record(RecordChange(kind: kind, model: model, key: RecordKey(values: []), version: 1, image: record)))
  }

  @Test func `finds what naive filtering over all subscriptions finds, while they come and go`() throws {
    for seed in UInt64(1)...4 {
      var generator = RandomPredicates(seed: seed)
      var limits = SubscriptionIndexLimits()
      limits.signaturesPerChannel = seed % 2 == 0 ? 3 : 32
      limits.branchesPerPredicate = seed % 2 == 0 ? 4 : 256
      var index = SubscriptionIndex<Int>(limits: limits)
      var live: [(number: Int, id: MemberID, interests: [Interest])] = []
      let channels: [ChangeChannel] = [.model(0, .create), .model(0, .update), .model(1, .create)]
      for step in 0..<800 {
        switch generator.count(below: 5) {
        case 0, 1, 2:
          var interests: [Interest] = []
          let predicate = generator.predicate(depth: 2)
          for _ in 0...generator.count(below: 2) {
            interests.append(Interest(channels[generator.count(below: 3)], predicate))
          }
          // Every third shares the group of an earlier one, with its interests.
          if let earlier = live.first, generator.chance(3) {
            let id = try index.add(step, key: try #require(index.key(of: earlier.id.group)), interests: [])
            live.append((step, id, earlier.interests))
          } else {
            live.append((step, try index.add(step, key: Self.key(step), interests: interests), interests))
          }
        case 3 where !live.isEmpty:
          let gone = live.remove(at: generator.count(below: live.count))
          #expect(index.remove(gone.id) == gone.number)
          #expect(index.remove(gone.id) == nil)
        case _: break
        }
        let channel = channels[generator.count(below: 3)]
        let record = generator.record()
        var matches: [SubscriptionIndex<Int>.Match] = []
        index.match(Self.change(channel, record), into: &matches)
        let groups = matches.map(\.group)
        #expect(Set(groups).count == groups.count)
        let found = groups.flatMap { index.members(of: $0) }.sorted()
        let expected = live.filter { subscription in
          subscription.interests.contains { $0.channel == channel && $0.predicate.matches(record) }
        }.map(\.number).sorted()
        #expect(found == expected)
      }
      for subscription in live { index.remove(subscription.id) }
      #expect(index.memberCount == 0 && index.groupCount == 0 && index.nodeCount == 0)
      #expect(index.scannedPredicateCount == 0)
    }
  }

  @Test(arguments: [1_000, 20_000])
  func `an event evaluates at most one condition more than match, however many there are`(count: Int) throws {
    var index = SubscriptionIndex<Int>()
    // Differently filtered: by flight number, or by carrier with a lower bound on the delay.
    for number in 0..<count {
      let predicate: Predicate =
        number % 2 == 0
        ? .compare(field: 0, .eq(.int(Int64(number))))
        : .and([.compare(field: 1, .eq(.string("C\(number)"))), .compare(field: 2, .ge(15))])
      _ = try index.add(number, key: Self.key(number), interests: [Interest(Self.created, predicate)])
    }
    for (flight, carrier, delay) in [(0, "C1", 20), (2, "C3", 10), (1, "none", 99), (500, "C501", 15)] {
      let before = index.counters
      var found: [SubscriptionIndex<Int>.Match] = []
      let record = Record(values: [.int(Int64(flight)), .string(carrier), .int(Int64(delay))])
      index.match(Self.change(Self.created, record), into: &found)
      let evaluations = index.counters.evaluations - before.evaluations
      #expect(evaluations <= found.count + 1)
      #expect(index.counters.lookups - before.lookups == 2)
      #expect(index.counters.matches - before.matches == found.count)
    }
    #expect(index.counters.matches == 5)
  }

  @Test func `equal conditions are evaluated once for all their groups`() throws {
    var index = SubscriptionIndex<Int>()
    let late = Interest(Self.created, .and([.compare(field: 0, .eq("JFK")), .compare(field: 1, .gt(5))]))
    for number in 0..<50 { _ = try index.add(number, key: Self.key(number % 5), interests: [late]) }
    var found: [SubscriptionIndex<Int>.Match] = []
    index.match(Self.change(Self.created, Record(values: ["JFK", 6])), into: &found)
    #expect(found.count == 5 && index.groupCount == 5 && index.nodeCount == 1)
    #expect(index.counters.evaluations == 1)
    #expect(found.map { index.members(of: $0.group).count } == [10, 10, 10, 10, 10])
  }

  @Test func `several branches of one condition announce a group once`() throws {
    var index = SubscriptionIndex<Int>()
    let either = Predicate.or([.compare(field: 0, .in(["a", "b"])), .compare(field: 1, .eq(1))])
    _ = try index.add(7, key: Self.key(7), interests: [Interest(Self.created, either)])
    var found: [SubscriptionIndex<Int>.Match] = []
    index.match(Self.change(Self.created, Record(values: ["a", 1])), into: &found)
    #expect(found.count == 1 && index.counters.lookups == 2 && index.counters.matches == 1)
  }

  @Test func `conditions without an equality are counted and limited, and the refused leave nothing behind`() throws {
    var limits = SubscriptionIndexLimits()
    limits.scannedPredicates = 2
    var index = SubscriptionIndex<Int>(limits: limits)
    func range(_ bound: Int64) -> [Interest] { [Interest(Self.created, .compare(field: 0, .gt(.int(bound))))] }
    let first = try index.add(1, key: Self.key(1), interests: range(1))
    _ = try index.add(2, key: Self.key(2), interests: range(2))
    // The same condition again costs nothing more, and no filter at all is not a scan.
    _ = try index.add(3, key: Self.key(3), interests: range(2))
    _ = try index.add(4, key: Self.key(4), interests: [Interest(Self.created)])
    #expect(throws: SubscriptionIndexError.tooManyWithoutEquality(limit: 2)) {
      try index.add(5, key: Self.key(5), interests: [Interest(.model(3, .delete))] + range(3))
    }
    #expect(index.groupCount == 4 && index.nodeCount == 3 && index.memberCount == 4)
    index.remove(first)
    _ = try index.add(5, key: Self.key(5), interests: range(3))
    #expect(index.scannedPredicateCount == 2)
  }

  @Test func `topics carry the application's own events`() throws {
    var index = SubscriptionIndex<String>()
    let gate = try index.add("gate", key: Self.key(1), interests: [Interest(.topic(named: "gates"))])
    _ = try index.add("other", key: Self.key(2), interests: [Interest(.topic(named: "e\u{301}"))])
    var found: [SubscriptionIndex<String>.Match] = []
    index.match(
      Change(offset: 1, endsTransaction: true, body: .event(TopicEvent(topic: "gates", payload: 1))), into: &found)
    #expect(found.map(\.group) == [gate.group])
    found = []
    index.match(
      Change(offset: 2, endsTransaction: true, body: .event(TopicEvent(topic: "\u{E9}", payload: 1))), into: &found)
    #expect(found.isEmpty)
  }

  @Test func `a slot's name is not the name of what comes after it`() {
    var slots = SlotArray<Int>()
    let names = (0..<4).map { slots.insert($0) }
    #expect(slots.remove(names[1]) == 1)
    let again = slots.insert(9)
    #expect(again != names[1] && slots[names[1]] == nil && slots[again] == 9)
    #expect(slots.remove(names[1]) == nil)
    #expect(slots.elements.sorted() == [0, 2, 3, 9])
    for position in slots.elements.indices { #expect(slots[slots.slot(at: position)] == slots.elements[position]) }
  }
}
