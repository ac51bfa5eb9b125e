internal import MartletChangeFeed
internal import MartletJSONTree
internal import MartletSQLite

/// How a change of the tree reaches the rows of its indexes.
extension TreeTable {
  /// A child whose place in an index a change may alter, and its row before.
  struct Indexed {
    var id: UInt32
    var order: ChildOrder
    var child: TreePath
    var key: [UInt8]?
  }

  /// The children of indexed nodes above a change's path that it touches: one for each index. With `isPart`, also those
  /// at and below it that the change has.
  func indexed(by change: TreeChange, isPart: Bool) throws -> [Indexed] {
    var found: [Indexed] = []
    for declared in try indexes.declared() where !declared.isDropped {
      let (index, depth) = (declared.index, declared.index.pattern.count)
      if depth < change.path.keys.count {
        guard index.agrees(with: change.path) else { continue }
        let child = TreePath(change.path.keys[...depth])
        found.append(try indexed(declared, child))
      } else if isPart {
        var children: [TreePath] = []
        index.forEachChild(of: change.node, at: change.path) { path, _ in children.append(path) }
        for child in children { found.append(try indexed(declared, child)) }
      }
    }
    return found
  }

  private func indexed(_ declared: TreeIndexTable.Declared, _ child: TreePath) throws -> Indexed {
    let key = try indexKey(declared.id, declared.index.order, child)
    return Indexed(id: declared.id, order: declared.index.order, child: child, key: key)
  }

  /// The row that a child has in an index by what stands in the tree; nil when the child does not exist.
  func indexKey(_ id: UInt32, _ order: ChildOrder, _ child: TreePath) throws -> [UInt8]? {
    let own = try glimpse(at: child)
    if own == .absent { return nil }
    guard case .child(let below) = order else { return TreeIndexTable.key(id, child, OrderValue(own)) }
    let value = own == .children ? try glimpse(at: child.appending(below)) : .absent
    return TreeIndexTable.key(id, child, OrderValue(value))
  }

  /// Brings the rows of these children to what stands in the tree now.
  func reindex(_ children: [Indexed]) throws {
    for child in children {
      let key = try indexKey(child.id, child.order, child.child)
      guard key != child.key else { continue }
      if let old = child.key { try indexes.delete(old) }
      if let key { try indexes.insert(key) }
    }
  }

  /// Replaces the rows of all indexed nodes at and below the path of an overwrite.
  func replaceIndexRows(_ change: TreeChange) throws {
    for declared in try indexes.declared() where !declared.isDropped {
      let index = declared.index
      guard index.pattern.count >= change.path.keys.count, index.agrees(with: change.path) else { continue }
      try indexes.delete(declared.id, below: change.path)
      try index.forEachChild(of: change.node, at: change.path) { path, node in
        try indexes.insert(TreeIndexTable.key(declared.id, path, index.order.value(of: node)))
      }
    }
  }

  // MARK: Building

  /// Builds indexes that are not complete and deletes rows of dropped ones.
  ///
  /// - Parameter most: children looked at, or rows deleted, at most.
  /// - Returns: whether something is left to do.
  func continueIndexing(_ most: Int) throws -> Bool {
    let all = try indexes.declared()
    if let dropped = all.first(where: \.isDropped) {
      if try indexes.deleteSome(dropped.id, most: most) { try indexes.remove(dropped.id) }
    } else if let unfinished = all.first(where: { $0.next != nil }), let start = unfinished.next {
      try indexes.note(unfinished.id, builtBefore: try build(unfinished, from: start, most))
    }
    return try indexes.declared().contains { $0.isDropped || $0.next != nil }
  }

  /// - Returns: where to continue; nil at the end of the tree.
  private func build(_ declared: TreeIndexTable.Declared, from start: [UInt8], _ most: Int) throws -> [UInt8]? {
    var next = start
    for _ in 0..<most {
      guard let path = try leaf(from: next) else { return nil }
      switch declared.index.step(at: path) {
      case .skip(let key): next = key
      case .child(let child):
        if let key = try indexKey(declared.id, declared.index.order, child) { try indexes.insert(key) }
        next = PathKeyCoding.subtree(of: child).end
      }
    }
    return next
  }
}

extension OrderValue {
  /// The order value of what stands at a place.
  init(_ glimpse: TreeGlimpse) {
    switch glimpse {
    case .absent: self = .null
    case .leaf(let scalar): self = .scalar(scalar)
    case .children: self = .object
    }
  }
}
