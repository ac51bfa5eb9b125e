/// Several writes as one: at some paths the whole value is known. Nothing is kept below such a path.
package struct WriteTrie: Sendable {
  /// The value written here.
  package private(set) var node: TreeNode?
  package private(set) var children: [TreeKey: WriteTrie] = [:]

  package init() {}

  /// A write of the whole node.
  package init(_ node: TreeNode) {
    self.node = node
  }

  package init(_ writes: some Sequence<TreeWrite>) {
    for write in writes { add(write.node, at: write.path) }
  }

  package var isEmpty: Bool { node == nil && children.isEmpty }

  /// Lays a write over those that are there.
  package mutating func add(_ written: TreeNode, at path: TreePath) { add(written, at: path.keys[...]) }

  private mutating func add(_ written: TreeNode, at keys: ArraySlice<TreeKey>) {
    if let node {
      self.node = node.setting(TreePath(keys), to: written)
    } else if let key = keys.first {
      children[key, default: WriteTrie()].add(written, at: keys.dropFirst())
    } else {
      self = WriteTrie(written)
    }
  }

  /// Removes what is written at and below `path`.
  package mutating func remove(_ path: TreePath) { remove(path.keys[...]) }

  private mutating func remove(_ keys: ArraySlice<TreeKey>) {
    guard let key = keys.first else {
      self = WriteTrie()
      return
    }
    children[key]?.remove(keys.dropFirst())
    if children[key]?.isEmpty == true { children[key] = nil }
  }

  /// The value at `path`, when it is wholly written.
  package func complete(at path: TreePath) -> TreeNode? {
    var trie = self
    for (index, key) in path.keys.enumerated() {
      if let node = trie.node { return node.node(at: TreePath(path.keys[index...])) }
      guard let child = trie.children[key] else { return nil }
      trie = child
    }
    return trie.node
  }

  /// What is written at and below `path`.
  package func subtree(at path: TreePath) -> WriteTrie {
    var trie = self
    for (index, key) in path.keys.enumerated() {
      if let node = trie.node { return WriteTrie(node.node(at: TreePath(path.keys[index...]))) }
      guard let child = trie.children[key] else { return WriteTrie() }
      trie = child
    }
    return trie
  }

  package func subtree(at key: TreeKey) -> WriteTrie { subtree(at: TreePath([key])) }

  /// The value that results from the writes over `base`.
  package func apply(to base: TreeNode) -> TreeNode {
    if let node { return node }
    var result = base
    for (key, trie) in children where !key.isPriority {
      result = result.setting(key, to: trie.apply(to: result.child(key)))
    }
    // Last, since a node that does not exist yet takes no priority.
    if let priority = children[.priority]?.node { result = result.withPriority(priority.scalar) }
    return result
  }

  /// The children that are wholly written.
  var completeChildren: [(key: TreeKey, node: TreeNode)] {
    if let node { return node.children.entries.map { ($0.key, $0.value) } }
    return children.compactMap { key, trie in
      key.isPriority ? nil : trie.node.map { (key, $0) }
    }
  }

  /// Each written path with its value.
  package var writes: [TreeWrite] {
    var found: [TreeWrite] = []
    collect(at: .root, into: &found)
    return found
  }

  private func collect(at path: TreePath, into found: inout [TreeWrite]) {
    if let node { found.append(TreeWrite(path: path, node: node)) }
    for (key, trie) in children.sorted(by: { $0.key < $1.key }) { trie.collect(at: path.child(key), into: &found) }
  }
}
