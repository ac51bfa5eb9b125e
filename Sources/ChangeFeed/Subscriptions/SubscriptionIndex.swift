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
/// A condition is a *node*; groups with the same condition share it. A node stands in one hash table for each of its
/// branches: the table of the branch's signature (the set of fields it compares by equality), under the values. A
/// change looks up its own values once per signature of its channel, so it meets only branches whose equalities it
/// fulfils, and evaluates just their residue. Conditions without an equality are tried on every change of their
/// channel; they are counted and limited. One loop owns an index; nothing in it locks.
package struct SubscriptionIndex<Member> {
  struct Group: ChangedInPlace {
    let key: GroupKey
    var nodes: [(node: Int, position: Int)]
    var members = SlotArray<Member>()
    /// The last event that the group was found for, and its position among the groups found.
    var markedAt = 0
    var foundAt = 0
  }

  package let limits: SubscriptionIndexLimits
  package internal(set) var counters = SubscriptionIndexCounters()
  /// Live conditions that every change of their channel is tried on.
  package private(set) var scannedPredicateCount = 0
  package private(set) var memberCount = 0

  var groups = FreeList<Group>()
  private var groupOfKey: [GroupKey: Int] = [:]
  var nodes = FreeList<PredicateNode>()
  private var nodeOfInterest: [Interest: Int] = [:]
  var branches = FreeList<PlacedBranch>()
  var channels: [Channel: ChannelTables] = [:]

  package init(limits: SubscriptionIndexLimits = SubscriptionIndexLimits()) {
    self.limits = limits
  }

  package var groupCount: Int { groupOfKey.count }
  package var nodeCount: Int { nodeOfInterest.count }

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
    guard groups.elements.indices.contains(number), groups.get(number) != nil else { return nil }
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
    guard groups.elements.indices.contains(group.number) else { return [] }
    // The list alone: a copy of a group costs more than the rest.
    return groups.elements[group.number]?.members.elements ?? []
  }

  /// What the members of a group have in common; nil when the group is gone.
  package func key(of group: GroupID) -> GroupKey? {
    groups.elements.indices.contains(group.number) ? groups.get(group.number)?.key : nil
  }

  // MARK: Groups

  private mutating func insertGroup(
    _ key: GroupKey, _ interests: [Interest]
  ) throws(SubscriptionIndexError) -> Int {
    let number = groups.insert(Group(key: key, nodes: []))
    groupOfKey[key] = number
    var seen: Set<Interest> = []
    for interest in interests where seen.insert(interest).inserted {
      let node: Int
      do {
        node = try insertNode(interest)
      } catch {
        removeGroup(number)
        throw error
      }
      var position = 0
      nodes.update(node) {
        position = $0.groups.count
        $0.groups.append(GroupID(number: number))
      }
      groups.update(number) { $0.nodes.append((node, position)) }
    }
    return number
  }

  private mutating func removeGroup(_ number: Int) {
    guard let group = groups.get(number) else { return }
    for (node, position) in group.nodes { detach(position, from: node) }
    groupOfKey[group.key] = nil
    groups.remove(number)
  }

  private mutating func detach(_ position: Int, from node: Int) {
    var moved: GroupID?
    var isEmpty = false
    nodes.update(node) {
      $0.groups.swapAt(position, $0.groups.count - 1)
      $0.groups.removeLast()
      moved = position < $0.groups.count ? $0.groups[position] : nil
      isEmpty = $0.groups.isEmpty
    }
    if let moved {
      groups.update(moved.number) { group in
        for index in group.nodes.indices where group.nodes[index].node == node {
          group.nodes[index].position = position
        }
      }
    }
    if isEmpty { removeNode(node) }
  }

  // MARK: Nodes

  private mutating func insertNode(_ interest: Interest) throws(SubscriptionIndexError) -> Int {
    if let known = nodeOfInterest[interest] { return known }
    var parts = interest.predicate.equalityBranches(limit: limits.branchesPerPredicate)
    if parts.contains(where: \.mustBeScanned) {
      // One branch that must be tried everywhere makes looking up the others pointless.
      guard scannedPredicateCount < limits.scannedPredicates else {
        throw .tooManyWithoutEquality(limit: limits.scannedPredicates)
      }
      scannedPredicateCount += 1
      parts = [EqualityBranch(residue: interest.predicate)]
    }
    let number = nodes.insert(PredicateNode(interest: interest))
    nodeOfInterest[interest] = number
    let placed = parts.map { place($0, node: number, interest.channel) }
    nodes.update(number) { $0.branches = placed }
    if interest.judgement == .beforeAndAfter { channels[interest.channel]?.judgedByBoth += 1 }
    return number
  }

  private mutating func place(_ branch: EqualityBranch, node: Int, _ channel: Channel) -> Int {
    let number = branches.insert(
      PlacedBranch(node: node, residue: branch.residue, table: ChannelTables.scannedTable, values: [], position: 0))
    var position = 0
    guard !branch.mustBeScanned else {
      position = channels[channel]?.scanned.count ?? 0
      channels[channel, default: ChannelTables()].scanned.append(number)
      branches.update(number) { $0.position = position }
      return number
    }
    var branch = branch
    if channels[channel]?.tableOfSignature[branch.fields] == nil,
      (channels[channel]?.tableOfSignature.count ?? 0) >= limits.signaturesPerChannel
    {
      branch = branch.narrowedToOneField
    }
    let table = channels[channel, default: ChannelTables()].table(for: branch.fields)
    position = channels[channel]?.tables[table]?.buckets[branch.values]?.count ?? 0
    channels[channel]?.tables[table]?.buckets[branch.values, default: []].append(number)
    branches.update(number) {
      $0.residue = branch.residue
      $0.table = table
      $0.values = branch.values
      $0.position = position
    }
    return number
  }

  private mutating func removeNode(_ number: Int) {
    guard let node = nodes.get(number) else { return }
    let channel = node.interest.channel
    if node.interest.judgement == .beforeAndAfter { channels[channel]?.judgedByBoth -= 1 }
    for branch in node.branches { displace(branch, channel) }
    if channels[channel]?.isEmpty == true { channels[channel] = nil }
    nodeOfInterest[node.interest] = nil
    nodes.remove(number)
  }

  private mutating func displace(_ number: Int, _ channel: Channel) {
    guard let branch = branches.get(number) else { return }
    branches.remove(number)
    var moved: Int?
    if branch.table == ChannelTables.scannedTable {
      scannedPredicateCount -= 1
      moved = channels[channel]?.scanned.removeSwapping(branch.position)
    } else {
      moved = channels[channel]?.tables[branch.table]?.buckets[branch.values]?.removeSwapping(branch.position)
      if channels[channel]?.tables[branch.table]?.buckets[branch.values]?.isEmpty == true {
        channels[channel]?.tables[branch.table]?.buckets[branch.values] = nil
        channels[channel]?.dropIfEmpty(branch.table)
      }
    }
    if let moved { branches.update(moved) { $0.position = branch.position } }
  }
}

extension SubscriptionIndex: Sendable where Member: Sendable {}
extension SubscriptionIndex.Group: Sendable where Member: Sendable {}

extension Array where Element == Int {
  /// Removes an element by moving the last into its place; the moved one, if any.
  fileprivate mutating func removeSwapping(_ position: Int) -> Int? {
    swapAt(position, count - 1)
    removeLast()
    return position < count ? self[position] : nil
  }
}
