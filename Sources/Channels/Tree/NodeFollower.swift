package import MartletJSON
package import MartletJSONTree

/// One write of the tree by its path from the root.
package struct NodeWrite: Sendable {
  package var path: TreePath
  package var node: TreeNode

  package init(path: TreePath, node: TreeNode) {
    self.path = path
    self.node = node
  }
}

/// Follows one node through the log and derives a channel's events from its writes.
///
/// It holds the node's value and applies each write to it. Where it begins with a value newer than the channel's
/// position, after a restart, it shows values that are those of the event's offset or later ones, and an event for each
/// write, whether it changed the value or not; which children existed is known from the channel's record.
package struct NodeFollower: Sendable {
  package let path: TreePath
  package let events: ChannelEvents
  private let carriesData: Bool
  private var node: TreeNode
  /// The children that exist for the receiver; nil where kinds of children are not asked for.
  private var keys: Set<TreeKey>?
  /// The value contains the writes up to here already.
  private let containedOffset: Int64
  /// At most so many leaves are in the value.
  package private(set) var leaves: Int

  /// - Parameters:
  ///   - node: The node's value after `offset`.
  ///   - keys: The children that the receiver knows of, where they are others than the value's.
  package init(
    _ path: TreePath, _ events: ChannelEvents, carriesData: Bool, node: TreeNode, at offset: Int64,
    keys: Set<TreeKey>? = nil
  ) {
    self.path = path
    self.events = events
    self.carriesData = carriesData
    self.node = node
    containedOffset = offset
    leaves = Self.leafCount(node)
    if events != .valueChange { self.keys = keys ?? Self.keys(of: node) }
  }

  /// The names of a node's children.
  package static func keys(of node: TreeNode) -> Set<TreeKey> { Set(node.children.entries.map(\.key)) }

  /// Counts the leaves again, after overwritten ones were counted twice.
  package mutating func measure() { leaves = Self.leafCount(node) }

  private static func leafCount(_ node: TreeNode) -> Int {
    if node.isLeaf { return 1 }
    var count = 0
    node.children.forEach { _, child in
      count += leafCount(child)
      return true
    }
    return count
  }

  /// One event before it has an id and a context.
  package struct Found: Sendable, Equatable {
    package var kind: ChannelEvents
    /// Its number among what the transaction's writes touch; the same whenever they are followed.
    package var number: Int
    package var path: TreePath
    /// Nil for a signal without data.
    package var value: JSONValue?

    package init(kind: ChannelEvents, number: Int, path: TreePath, value: JSONValue?) {
      self.kind = kind
      self.number = number
      self.path = path
      self.value = value
    }
  }

  /// What a transaction means for the channel.
  package struct Step: Sendable {
    package var found: [Found] = []
    package var existence: [(key: TreeKey, exists: Bool)] = []
  }

  /// Takes the writes of one transaction; nil when none of them concerns the node.
  package mutating func take(_ writes: [NodeWrite], at offset: Int64) -> Step? {
    let before = node
    var touched: Set<TreeKey> = []
    var isConcerned = false
    for write in writes where write.path.key?.isPriority != true {
      if let below = write.path.relative(to: path) {
        isConcerned = true
        leaves += Self.leafCount(write.node)
        if let first = below.first {
          touched.insert(first)
          node = node.setting(below, to: write.node)
        } else {
          replace(write.node, &touched)
        }
      } else if let above = path.relative(to: write.path) {
        isConcerned = true
        let value = write.node.node(at: above)
        leaves += Self.leafCount(value)
        replace(value, &touched)
      }
    }
    guard isConcerned else { return nil }
    let isReplay = offset <= containedOffset
    return keys == nil ? valueStep(before, isReplay) : childStep(before, touched.sorted(), isReplay)
  }

  private mutating func replace(_ value: TreeNode, _ touched: inout Set<TreeKey>) {
    if let keys {
      touched.formUnion(keys)
      touched.formUnion(Self.keys(of: node))
      touched.formUnion(Self.keys(of: value))
    }
    node = value
  }

  private func valueStep(_ before: TreeNode, _ isReplay: Bool) -> Step {
    guard isReplay || before != node else { return Step() }
    return Step(found: [
      Found(kind: .valueChange, number: 0, path: path, value: carriesData ? node.json() : JSONValue?.none)
    ])
  }

  private mutating func childStep(_ before: TreeNode, _ touched: [TreeKey], _ isReplay: Bool) -> Step {
    var step = Step()
    for (number, key) in touched.enumerated() {
      let child = node.child(key)
      let existed = keys?.contains(key) == true
      let kind: ChannelEvents
      switch (existed, !child.isEmpty) {
      case (false, false): continue
      case (false, true): kind = .childAddition
      case (true, false): kind = .childRemoval
      case (true, true):
        guard isReplay || before.child(key) != child else { continue }
        kind = .childChange
      }
      if kind != .childChange {
        step.existence.append((key, kind == .childAddition))
        if kind == .childAddition { keys?.insert(key) } else { keys?.remove(key) }
      }
      guard events.contains(kind) else { continue }
      step.found.append(
        Found(kind: kind, number: number, path: path.child(key), value: carriesData ? child.json() : JSONValue?.none))
    }
    return step
  }
}
