internal import MartletJSON
internal import MartletModels

/// An owner of a condition, as its index knows it.
package struct ConditionPlace: Sendable, Hashable {
  let node: Int32
  /// The owner's position among the condition's.
  var position: Int32
}

/// Finds the conditions that a change of a record concerns, at a cost that grows with those and not with the rest.
///
/// A condition is a *node*; owners of the same condition share it. A node stands in one hash table for each of its
/// branches: the table of the branch's signature (the set of fields it compares by equality), under the values. A
/// change looks up its own values once per signature of its channel, so it meets only branches whose equalities it
/// fulfils, and evaluates just their residue. Conditions without an equality are tried on every change of their
/// channel; they are counted and limited.
package struct ConditionIndex: Sendable {
  package let limits: SubscriptionIndexLimits
  package internal(set) var counters = SubscriptionIndexCounters()
  /// Live conditions that every change of their channel is tried on.
  package private(set) var scannedPredicateCount = 0

  var nodes = FreeList<ConditionNode>()
  var branches = FreeList<PlacedBranch>()
  var channels: [ChangeChannel: ChannelTables] = [:]

  /// An index without conditions.
  package init(limits: SubscriptionIndexLimits = SubscriptionIndexLimits()) {
    self.limits = limits
  }

  /// How many conditions there are.
  package var count: Int { nodes.count }

  // MARK: Owners

  /// Adds an owner of a condition. From now on the condition is found by every change it matches.
  package mutating func add(_ owner: Int, to interest: Interest) throws(SubscriptionIndexError) -> ConditionPlace {
    let node = try node(of: interest)
    var position = 0
    nodes.update(node) {
      position = $0.owners.count
      $0.owners.append(owner)
    }
    return ConditionPlace(node: Int32(truncatingIfNeeded: node), position: Int32(truncatingIfNeeded: position))
  }

  /// Takes an owner out; the condition of the last one goes with it. Returns the owner that has the place now, if any.
  @discardableResult
  package mutating func remove(_ place: ConditionPlace) -> Int? {
    var moved: Int?
    var isEmpty = false
    nodes.update(Int(place.node)) {
      moved = $0.owners.removeSwapping(Int(place.position))
      isEmpty = $0.owners.isEmpty
    }
    if isEmpty { removeNode(Int(place.node)) }
    return moved
  }

  /// The owners of a condition that was found.
  package func owners(of match: Match) -> NumberList { nodes.read(match.node) { $0.owners } ?? .none }

  // MARK: Nodes

  private mutating func node(of interest: Interest) throws(SubscriptionIndexError) -> Int {
    let condition = Condition(predicate: interest.predicate, judgement: interest.judgement)
    if let known = channels[interest.channel]?.nodes[condition] { return Int(known) }
    var parts = interest.predicate.equalityBranches(limit: limits.branchesPerPredicate)
    if parts.contains(where: \.mustBeScanned) {
      // One branch that must be tried everywhere makes looking up the others pointless.
      guard scannedPredicateCount < limits.scannedPredicates else {
        throw .tooManyWithoutEquality(limit: limits.scannedPredicates)
      }
      scannedPredicateCount += 1
      parts = [EqualityBranch(residue: interest.predicate)]
    }
    let number = nodes.insert(ConditionNode(interest))
    channels[interest.channel, default: ChannelTables()].nodes[condition] = Int32(truncatingIfNeeded: number)
    var placed = NumberList.none
    for part in parts { placed.append(place(part, node: number, interest.channel)) }
    nodes.update(number) { $0.branches = placed }
    if interest.judgement == .beforeAndAfter { channels[interest.channel]?.judgedByBoth += 1 }
    return number
  }

  private mutating func place(_ branch: EqualityBranch, node: Int, _ channel: ChangeChannel) -> Int {
    let number = branches.insert(PlacedBranch(node: node, residue: branch.residue))
    var position = 0
    guard !branch.mustBeScanned else {
      position = channels[channel]?.scanned.count ?? 0
      channels[channel]?.scanned.append(number)
      branches.update(number) { $0.position = Int32(truncatingIfNeeded: position) }
      return number
    }
    var branch = branch
    if channels[channel]?.tableOfSignature[branch.fields] == nil,
      (channels[channel]?.tableOfSignature.count ?? 0) >= limits.signaturesPerChannel
    {
      branch = branch.narrowedToOneField
    }
    let table = channels[channel, default: ChannelTables()].table(for: branch.fields)
    let key = RecordKey(values: branch.values)
    position = channels[channel]?.tables[table]?.buckets[key]?.count ?? 0
    channels[channel]?.tables[table]?.buckets[key, default: .none].append(number)
    branches.update(number) {
      $0.residue = branch.residue
      $0.table = Int32(truncatingIfNeeded: table)
      $0.key = key
      $0.position = Int32(truncatingIfNeeded: position)
    }
    return number
  }

  private mutating func removeNode(_ number: Int) {
    guard let node = nodes[number] else { return }
    let channel = node.channel
    if node.judgement == .beforeAndAfter { channels[channel]?.judgedByBoth -= 1 }
    node.branches.forEach { displace($0, channel) }
    channels[channel]?.nodes[node.condition] = nil
    if channels[channel]?.isEmpty == true { channels[channel] = nil }
    nodes.remove(number)
  }

  private mutating func displace(_ number: Int, _ channel: ChangeChannel) {
    guard let branch = branches[number] else { return }
    branches.remove(number)
    let position = Int(branch.position)
    var moved: Int?
    if branch.table == ChannelTables.scannedTable {
      scannedPredicateCount -= 1
      moved = channels[channel]?.scanned.removeSwapping(position)
    } else {
      let table = Int(branch.table)
      moved = channels[channel]?.tables[table]?.buckets[branch.key]?.removeSwapping(position)
      if channels[channel]?.tables[table]?.buckets[branch.key]?.isEmpty == true {
        channels[channel]?.tables[table]?.buckets[branch.key] = nil
        channels[channel]?.dropIfEmpty(table)
      }
    }
    if let moved { branches.update(moved) { $0.position = branch.position } }
  }
}

extension Array where Element == Int {
  /// Removes an element by moving the last into its place; the moved one, if any.
  fileprivate mutating func removeSwapping(_ position: Int) -> Int? {
    swapAt(position, count - 1)
    removeLast()
    return position < count ? self[position] : nil
  }
}
