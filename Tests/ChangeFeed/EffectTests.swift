import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletSimulation
import Testing

/// The index says what a change does to the records that a condition selects.
@Suite struct EffectTests {
  /// What the index has to find for one subscription, from the definition.
  private static func naive(_ interests: [Interest], _ channel: ChangeChannel, _ before: Record?, _ after: Record?)
    -> Effect?
  {
    var wasSelected = false
    var isSelected = false
    for interest in interests where interest.channel == channel {
      let judgesBefore = interest.judgement == .beforeAndAfter || after == nil
      let is_ = after.map { interest.predicate.matches($0) } ?? false
      let was = judgesBefore ? before.map { interest.predicate.matches($0) } ?? false : is_ && before != nil
      wasSelected = wasSelected || was
      isSelected = isSelected || is_
    }
    return switch (wasSelected, isSelected) {
    case (false, false): nil
    case (false, true): .entered
    case (true, true): .stayed
    case (true, false): .left
    }
  }

  /// A change of `before` into `after`, as the log has it: an update carries the old values of changed fields only.
  private static func change(_ model: Int, _ before: Record?, _ after: Record?) -> Change? {
    guard let image = after ?? before else { return nil }
    var old: [(field: Int, value: JSONValue)] = []
    if let before, let after {
      for field in after.values.indices where before.values[field] != after.values[field] {
        old.append((field, before.values[field]))
      }
    }
    let kind: ChangeKind = before == nil ? .create : after == nil ? .delete : .update
    return Change(
      offset: 1, endsTransaction: true,
      body: .record(
        RecordChange(kind: kind, model: model, key: RecordKey(values: []), version: 1, image: image, old: old)))
  }

  @Test func `every group gets the effect that naive evaluation of both images gives, live and alone`() throws {
    for seed in UInt64(1)...6 {
      var generator = RandomPredicates(seed: seed)
      var limits = SubscriptionIndexLimits()
      limits.signaturesPerChannel = seed % 2 == 0 ? 3 : 32
      limits.branchesPerPredicate = seed % 2 == 0 ? 4 : 256
      var index = SubscriptionIndex<Int>(limits: limits)
      var live: [(number: Int, id: MemberID, interests: [Interest])] = []
      var seen: Set<Effect> = []
      for step in 0..<600 {
        if generator.count(below: 4) > 0 {
          let predicate = generator.predicate(depth: 2)
          let judgement: Judgement = generator.chance(2) ? .beforeAndAfter : .after
          var interests = ChangeKind.allCases.filter { _ in generator.chance(2) }
            .map { Interest(.model(0, $0), predicate, judgement) }
          // Now and then a second condition on the same channel.
          if generator.chance(5) {
            interests.append(Interest(.model(0, .update), generator.predicate(depth: 1), judgement))
          }
          let id = try index.add(step, key: SubscriptionIndexTests.key(step), interests: interests)
          live.append((step, id, interests))
        } else if !live.isEmpty {
          index.remove(live.remove(at: generator.count(below: live.count)).id)
        }
        let first = generator.record()
        var second = generator.record()
        // Most updates change few fields.
        for field in second.values.indices where !generator.chance(3) { second.values[field] = first.values[field] }
        let images: (before: Record?, after: Record?)
        switch generator.count(below: 4) {
        case 0: images = (nil, first)
        case 1: images = (first, nil)
        default: images = (first, second)
        }
        let change = try #require(Self.change(0, images.before, images.after))
        var found: [SubscriptionIndex<Int>.Match] = []
        index.match(change, into: &found)
        var effects: [Int: Effect] = [:]
        for match in found {
          for member in index.members(of: match.group) {
            #expect(effects.updateValue(match.effect, forKey: member) == nil)
          }
        }
        for subscription in live {
          let expected = Self.naive(subscription.interests, change.channel, images.before, images.after)
          #expect(effects[subscription.number] == expected)
          if let expected { seen.insert(expected) }
          if subscription.interests.count(where: { $0.channel == change.channel }) == 1 {
            #expect(subscription.interests.compactMap { $0.effect(of: change) }.first == expected)
          }
        }
      }
      #expect(seen == [.entered, .stayed, .left])
      for subscription in live { index.remove(subscription.id) }
      #expect(index.groupCount == 0 && index.nodeCount == 0 && index.scannedPredicateCount == 0)
    }
  }

  /// 1,000 conditions on a gate with a bound on the delay.
  private static func gates(_ judgement: Judgement) throws -> SubscriptionIndex<Int> {
    var index = SubscriptionIndex<Int>()
    for number in 0..<1_000 {
      let predicate = Predicate.and([
        .compare(field: 0, .eq(.string("G\(number)"))), .compare(field: 1, .ge(15)),
      ])
      _ = try index.add(
        number, key: SubscriptionIndexTests.key(number), interests: [Interest(.model(0, .update), predicate, judgement)]
      )
    }
    return index
  }

  @Test func `an update that only the record after it decides costs no look at the record before`() throws {
    var index = try Self.gates(.after)
    var found: [SubscriptionIndex<Int>.Match] = []
    index.match(try #require(Self.change(0, Record(values: ["G1", 20]), Record(values: ["G2", 30]))), into: &found)
    #expect(found.map(\.effect) == [.stayed])
    #expect(index.counters.lookups == 1 && index.counters.evaluations <= found.count + 1)
  }

  @Test func `an update evaluates the conditions of the record before and of the record after, and no others`() throws {
    var index = try Self.gates(.beforeAndAfter)
    var found: [SubscriptionIndex<Int>.Match] = []
    index.match(try #require(Self.change(0, Record(values: ["G1", 20]), Record(values: ["G2", 30]))), into: &found)
    #expect(found.map(\.effect) == [.entered, .left])
    // The residue after, the whole condition before, and the residue before of the one that the record leaves.
    #expect(index.counters.lookups == 2 && index.counters.evaluations == 3)
  }

  @Test func `an update of fields that no condition reads is evaluated once`() throws {
    var index = SubscriptionIndex<Int>()
    let late = Predicate.and([.compare(field: 0, .eq("G1")), .compare(field: 1, .ge(15))])
    _ = try index.add(
      1, key: SubscriptionIndexTests.key(1), interests: [Interest(.model(0, .update), late, .beforeAndAfter)])
    var found: [SubscriptionIndex<Int>.Match] = []
    index.match(
      try #require(Self.change(0, Record(values: ["G1", 20, "a"]), Record(values: ["G1", 20, "b"]))), into: &found)
    #expect(found.map(\.effect) == [.stayed] && index.counters.evaluations == 1)
  }
}
