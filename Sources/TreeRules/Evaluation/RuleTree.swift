package import MartletJSONTree

/// A tree as rules read it: path by path, so that a store reads what the rules ask for and nothing else.
package protocol RuleTree {
  func glimpse(at path: TreePath) throws -> TreeGlimpse
  func priority(at path: TreePath) throws -> TreeScalar?
  /// The child after `key` in key order, or the first one.
  func child(of path: TreePath, after key: TreeKey?) throws -> TreeKey?
}

/// A tree in memory.
package struct NodeTree: RuleTree {
  package var root: TreeNode

  package init(_ root: TreeNode) {
    self.root = root
  }

  package func glimpse(at path: TreePath) -> TreeGlimpse { TreeGlimpse(root.node(at: path)) }
  package func priority(at path: TreePath) -> TreeScalar? { root.node(at: path).priority }
  package func child(of path: TreePath, after key: TreeKey?) -> TreeKey? {
    let children = root.node(at: path).children
    return key.map { children.entry(after: $0)?.key } ?? children.first?.key
  }
}

/// A tree as it is after writes, without applying them: `newData` beside `data`. Values count first, then deletions,
/// then priorities, so that the order of a merge's members has no effect.
package struct WrittenTree<Base: RuleTree>: RuleTree {
  private typealias Level = WrittenLevel

  private let base: Base
  private var top = Level()

  /// - Parameter writes: resolved values at absolute paths, none above another.
  package init(_ base: Base, writes: [TreeWrite]) {
    self.base = base
    for write in writes { Self.insert(write.node, write.path.keys[...], &top) }
  }

  private static func insert(_ node: TreeNode, _ keys: ArraySlice<TreeKey>, _ level: inout Level) {
    guard let key = keys.first else {
      level.node = node
      return
    }
    insert(node, keys.dropFirst(), &level.children[key, default: Level()])
  }

  /// The written value that covers `path`, or the writes below it.
  private func find(_ path: TreePath) -> (covering: TreeNode?, below: Level?) {
    var level = top
    for (index, key) in path.keys.enumerated() {
      if let node = level.node { return (node.node(at: TreePath(path.keys[index...])), nil) }
      guard let child = level.children[key] else { return (nil, nil) }
      level = child
    }
    return (level.node, level.node == nil ? level : nil)
  }

  package func glimpse(at path: TreePath) throws -> TreeGlimpse {
    let (covering, below) = find(path)
    if let covering { return TreeGlimpse(covering) }
    let old = try base.glimpse(at: path)
    guard let below else { return old }
    if below.hasValues { return .children }
    guard old == .children else { return old }
    // Only deletions below: the node stays when a child stays.
    return try child(of: path, after: nil) == nil ? .absent : .children
  }

  package func priority(at path: TreePath) throws -> TreeScalar? {
    let (covering, below) = find(path)
    if let covering { return covering.priority }
    guard try glimpse(at: path) != .absent else { return nil }
    if let written = below?.children[.priority]?.node { return written.scalar }
    return try base.priority(at: path)
  }

  package func child(of path: TreePath, after key: TreeKey?) throws -> TreeKey? {
    let (covering, below) = find(path)
    if let covering { return NodeTree(covering).child(of: .root, after: key) }
    let written = (below?.children.keys.filter { !$0.isPriority } ?? []).sorted()
    var next = key
    while true {
      let stored = try base.child(of: path, after: next)
      let fresh = next.map { next in written.first { next < $0 } } ?? written.first
      guard let found = [stored, fresh].compactMap({ $0 }).min() else { return nil }
      if try glimpse(at: path.child(found)) != .absent { return found }
      next = found
    }
  }
}

/// What was written at and below one node.
private struct WrittenLevel {
  /// What was written here; nothing below it matters then.
  var node: TreeNode?
  var children: [TreeKey: WrittenLevel] = [:]

  /// Whether anything but deletions and priorities was written.
  var hasValues: Bool {
    if let node { return !node.isEmpty }
    return children.contains { key, level in !key.isPriority && level.hasValues }
  }
}
