/// One row of a stored tree: a leaf, or the priority of a node with children.
///
/// A tree is the set of its rows; a node exists because a row below it does. Rows are kept under `PathKeyCoding` keys,
/// so that a node's rows stand together, in the tree's order.
package struct LeafRow: Hashable, Sendable {
  package var path: TreePath
  /// Nil in the row of a node with children.
  package var scalar: TreeScalar?
  package var priority: TreeScalar?

  package init(path: TreePath, scalar: TreeScalar?, priority: TreeScalar? = nil) {
    self.path = path
    self.scalar = scalar
    self.priority = priority
  }
}

extension TreeNode {
  /// Visits the rows of this node in the order of their keys.
  package func forEachRow(at path: TreePath = .root, _ body: (LeafRow) throws -> Void) rethrows {
    switch content {
    case .empty: return
    case .leaf(let scalar): try body(LeafRow(path: path, scalar: scalar, priority: priority))
    case .children(let children):
      if let priority { try body(LeafRow(path: path, scalar: nil, priority: priority)) }
      try children.forEach { key, child in
        try child.forEachRow(at: path.child(key), body)
        return true
      }
    }
  }

  /// The node at `path` whose rows these are, in whatever order. Rows elsewhere are ignored.
  package init(rows: some Sequence<LeafRow>, at path: TreePath = .root) {
    var (node, priorities): (TreeNode, [(TreePath, TreeScalar)]) = (.empty, [])
    for row in rows {
      guard let relative = row.path.relative(to: path) else { continue }
      if let scalar = row.scalar {
        node = node.setting(relative, to: TreeNode(scalar, priority: row.priority))
      } else if let priority = row.priority {
        priorities.append((relative, priority))
      }
    }
    for (relative, priority) in priorities {
      // The row of a node whose children are all gone says nothing.
      let inner = node.node(at: relative)
      if !inner.isEmpty { node = node.setting(relative, to: inner.withPriority(priority)) }
    }
    self = node
  }
}

/// What one overwrite does to the rows of a store.
package struct RowChanges: Sendable {
  /// Rows from the first key up to, not including, the second are deleted.
  package var deleted: (first: [UInt8], end: [UInt8])
  /// The leaf above the path, which becomes a node with children.
  package var replacedLeaf: [UInt8]?
  package var written: [(key: [UInt8], value: [UInt8], hasPriority: Bool)] = []

  /// - Parameter rowBefore: the path of the last row before those of `path`: the only one that can be a leaf above it.
  package init(overwriting path: TreePath, with node: TreeNode, rowBefore: LeafRow?) {
    deleted = PathKeyCoding.subtree(of: path)
    if let row = rowBefore, row.scalar != nil, !node.isEmpty, row.path != path, row.path.contains(path) {
      replacedLeaf = PathKeyCoding.encode(row.path)
    }
    var rows: [(key: [UInt8], value: [UInt8], hasPriority: Bool)] = []
    node.forEachRow(at: path) { rows.append((PathKeyCoding.encode($0.path), $0.encodedValue, $0.priority != nil)) }
    written = rows
  }
}

extension LeafRow {
  /// The row without its path, as bytes: the leaf, then the priority; each a type byte and its content.
  package var encodedValue: [UInt8] {
    var bytes: [UInt8] = []
    Self.append(scalar, to: &bytes)
    if priority != nil { Self.append(priority, to: &bytes) }
    return bytes
  }

  /// Reads a row; nil when its bytes are damaged.
  package init?(path: TreePath, encodedValue: some Collection<UInt8>) {
    var rest = Array(encodedValue)[...]
    guard let scalar = Self.scalar(&rest) else { return nil }
    var priority: TreeScalar?
    if !rest.isEmpty {
      guard let second = Self.scalar(&rest), second != nil, rest.isEmpty else { return nil }
      priority = second
    }
    guard scalar != nil || priority != nil else { return nil }
    self.init(path: path, scalar: scalar, priority: priority)
  }

  private static func append(_ scalar: TreeScalar?, to bytes: inout [UInt8]) {
    switch scalar {
    case nil: bytes.append(0)
    case .bool(let value): bytes.append(value ? 2 : 1)
    case .int(let value): append(3, UInt64(bitPattern: value), to: &bytes)
    case .double(let value): append(4, value.bitPattern, to: &bytes)
    case .string(let text):
      let count = text.utf8.count
      append(5, UInt64(count), to: &bytes)
      bytes += Array(text.utf8)
    }
  }

  private static func append(_ type: UInt8, _ bits: UInt64, to bytes: inout [UInt8]) {
    bytes.append(type)
    for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
  }

  /// The next scalar; `.some(nil)` is the absent one.
  private static func scalar(_ rest: inout ArraySlice<UInt8>) -> TreeScalar?? {
    guard let type = rest.popFirst() else { return nil }
    switch type {
    case 0: return .some(nil)
    case 1, 2: return .bool(type == 2)
    case 3...5:
      guard rest.count >= 8 else { return nil }
      let bits = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rest = rest.dropFirst(8)
      if type == 3 { return .int(Int64(bitPattern: bits)) }
      if type == 4 { return TreeScalar(Double(bitPattern: bits)).map { .some($0) } }
      guard bits <= UInt64(rest.count), let text = String(wellFormed: rest.prefix(Int(bits))) else {
        return nil
      }
      rest = rest.dropFirst(Int(bits))
      return .string(text)
    default: return nil
    }
  }
}
