import MartletJSON
internal import MartletModels

/// The name of a group in its index.
package struct GroupID: Hashable, Sendable {
  package let number: Int
}

/// A subscription's place: its group and its slot there.
package struct MemberID: Hashable, Sendable {
  package let group: GroupID
  let slot: UInt64
}

/// Finds the groups of subscriptions that a change concerns, at a cost that grows with those and not with the rest.
///
/// Groups with the same condition share it in a `ConditionIndex`. One loop owns an index; nothing in it locks.
package struct SubscriptionIndex<Member> {
  struct Group: ChangedInPlace {
    let key: GroupKey
    var conditions: [ConditionPlace]
    var members = SlotArray<Member>()
    /// The last event that the group was found for, and its position among the groups found.
    var markedAt = 0
    var foundAt = 0
  }

  var conditions: ConditionIndex
  package private(set) var memberCount = 0

  var groups = FreeList<Group>()
  private var groupOfKey: [GroupKey: Int] = [:]
  /// The conditions that the present change concerns.
  var found: [ConditionIndex.Match] = []

  package init(limits: SubscriptionIndexLimits = SubscriptionIndexLimits()) {
    conditions = ConditionIndex(limits: limits)
  }

  package var groupCount: Int { groupOfKey.count }
  package var nodeCount: Int { conditions.count }
  /// Live conditions that every change of their channel is tried on.
  package var scannedPredicateCount: Int { conditions.scannedPredicateCount }
  /// What the look-ups cost.
  package var counters: SubscriptionIndexCounters { conditions.counters }

  // MARK: Members

  /// Adds a subscription to the group of `key`. `interests` follow from the key: those of the group's first member
  /// count. From now on the group is found by every change they match.
  package mutating func add(
    _ member: Member, key: GroupKey, interests: [Interest]
  ) throws(SubscriptionIndexError) -> MemberID {
    let number: Int
    if let known = groupOfKey[key] { number = known } else { number = try insertGroup(key, interests) }
    var slot = SlotArray<Member>.Slot(index: 0, generation: 0)
    groups.update(number) { slot = $0.members.insert(member) }
    memberCount += 1
    return MemberID(group: GroupID(number: number), slot: UInt64(slot.generation) << 32 | UInt64(slot.index))
  }

  /// Takes a subscription out; nil when it is out already. The group of the last one goes with it.
  @discardableResult
  package mutating func remove(_ id: MemberID) -> Member? {
    let number = id.group.number
    guard groups.read(number, { _ in true }) != nil else { return nil }
    let slot = SlotArray<Member>.Slot(
      index: UInt32(truncatingIfNeeded: id.slot), generation: UInt32(truncatingIfNeeded: id.slot >> 32))
    var removed: Member?
    var isEmpty = false
    groups.update(number) { group in
      removed = group.members.remove(slot)
      isEmpty = group.members.isEmpty
    }
    guard removed != nil else { return nil }
    memberCount -= 1
    if isEmpty { removeGroup(number) }
    return removed
  }

  /// The subscriptions of a group, in no particular order; a view, not a copy. A caller that lets other code run in
  /// between iterates downwards (see `SlotArray`).
  package func members(of group: GroupID) -> [Member] {
    // The list alone: a copy of a group costs more than the rest.
    groups.read(group.number) { $0.members.elements } ?? []
  }

  /// What the members of a group have in common; nil when the group is gone.
  package func key(of group: GroupID) -> GroupKey? {
    groups.read(group.number) { $0.key }
  }

  // MARK: Groups

  private mutating func insertGroup(
    _ key: GroupKey, _ interests: [Interest]
  ) throws(SubscriptionIndexError) -> Int {
    let number = groups.insert(Group(key: key, conditions: []))
    groupOfKey[key] = number
    var seen: Set<Interest> = []
    for interest in interests where seen.insert(interest).inserted {
      let place: ConditionPlace
      do {
        place = try conditions.add(number, to: interest)
      } catch {
        removeGroup(number)
        throw error
      }
      groups.update(number) { $0.conditions.append(place) }
    }
    return number
  }

  private mutating func removeGroup(_ number: Int) {
    guard let group = groups[number] else { return }
    for place in group.conditions {
      guard let moved = conditions.remove(place) else { continue }
      groups.update(moved) { group in
        for index in group.conditions.indices where group.conditions[index].node == place.node {
          group.conditions[index].position = place.position
        }
      }
    }
    groupOfKey[group.key] = nil
    groups.remove(number)
  }
}

extension SubscriptionIndex: Sendable where Member: Sendable {}
extension SubscriptionIndex.Group: Sendable where Member: Sendable {}
