/// Listeners by path, so that a write finds those it concerns: on the way to its path, and below it.
package struct ListenerIndex<ID: Hashable & Sendable>: Sendable {
  /// The listeners of one node, in the order in which they came.
  package struct Members: Sequence, Sendable {
    /// Nil where one has left.
    private var order: [ID?] = []
    private var places: [ID: Int] = [:]

    var isEmpty: Bool { places.isEmpty }

    mutating func insert(_ id: ID) -> Bool {
      guard places[id] == nil else { return false }
      places[id] = order.count
      order.append(id)
      return true
    }

    mutating func remove(_ id: ID) -> Bool {
      guard let place = places.removeValue(forKey: id) else { return false }
      order[place] = nil
      if order.count > 2 * places.count + 8 {
        order = order.filter { $0 != nil }
        for (place, id) in order.enumerated() {
          if let id { places[id] = place }
        }
      }
      return true
    }

    package func makeIterator() -> some IteratorProtocol<ID> { order.lazy.compactMap { $0 }.makeIterator() }
  }

  private struct Level: Sendable {
    var ids = Members()
    var children: [TreeKey: Level] = [:]

    var isEmpty: Bool { ids.isEmpty && children.isEmpty }
  }

  /// How a write stands to a listener.
  package enum Relation: Hashable, Sendable {
    /// The write is below the listener's node, at this path relative to it.
    case below(TreePath)
    /// The write is at the listener's node or above it; the node's value is at this path of what was written.
    case covering(TreePath)
  }

  private var root = Level()
  package private(set) var count = 0

  package init() {}

  /// Whether some listener's path begins with `key`.
  package func hasListeners(below key: TreeKey) -> Bool { root.children[key] != nil }

  /// - Returns: false when this listener is there already.
  @discardableResult
  package mutating func insert(_ id: ID, at path: TreePath) -> Bool {
    let isNew = Self.insert(id, path.keys[...], &root)
    count += isNew ? 1 : 0
    return isNew
  }

  private static func insert(_ id: ID, _ keys: ArraySlice<TreeKey>, _ level: inout Level) -> Bool {
    guard let key = keys.first else { return level.ids.insert(id) }
    return insert(id, keys.dropFirst(), &level.children[key, default: Level()])
  }

  /// - Returns: false when there is no such listener.
  @discardableResult
  package mutating func remove(_ id: ID, at path: TreePath) -> Bool {
    let isRemoved = Self.remove(id, path.keys[...], &root)
    count -= isRemoved ? 1 : 0
    return isRemoved
  }

  private static func remove(_ id: ID, _ keys: ArraySlice<TreeKey>, _ level: inout Level) -> Bool {
    guard let key = keys.first else { return level.ids.remove(id) }
    guard var child = level.children.removeValue(forKey: key) else { return false }
    let isRemoved = remove(id, keys.dropFirst(), &child)
    if !child.isEmpty { level.children[key] = child }
    return isRemoved
  }

  /// Calls `body` with each listener that a write at `path` concerns.
  ///
  /// - Returns: how many levels of the index were looked at: those on the path, and those with listeners below it.
  @discardableResult
  package func forEach(concernedBy path: TreePath, _ body: (ID, Relation) -> Void) -> Int {
    forEachNode(concernedBy: path) { ids, _, relation in
      for id in ids { body(id, relation) }
    }
  }

  /// Calls `body` with each node that a write at `path` concerns and that has listeners: with these, its path, and how
  /// the write stands to it.
  ///
  /// - Returns: how many levels of the index were looked at: those on the path, and those with listeners below it.
  @discardableResult
  package func forEachNode(concernedBy path: TreePath, _ body: (Members, TreePath, Relation) -> Void) -> Int {
    var (level, visited) = (root, 1)
    for (index, key) in path.keys.enumerated() {
      if !level.ids.isEmpty {
        body(level.ids, TreePath(path.keys[..<index]), .below(TreePath(path.keys[index...])))
      }
      guard let child = level.children[key] else { return visited }
      level = child
      visited += 1
    }
    if !level.ids.isEmpty { body(level.ids, path, .covering(.root)) }
    Self.descend(level, path, .root, &visited, body)
    return visited
  }

  private static func descend(
    _ level: Level, _ written: TreePath, _ below: TreePath, _ visited: inout Int,
    _ body: (Members, TreePath, Relation) -> Void
  ) {
    for (key, child) in level.children.sorted(by: { $0.key < $1.key }) {
      visited += 1
      let below = below.child(key)
      if !child.ids.isEmpty { body(child.ids, written.appending(below), .covering(below)) }
      descend(child, written, below, &visited, body)
    }
  }
}
