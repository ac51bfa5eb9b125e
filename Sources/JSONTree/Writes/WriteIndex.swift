/// Pending writes by the paths they replace, so that those that concern a path are found along it and below it.
struct WriteIndex: Sendable {
  /// Writes at exactly this path.
  private var own = WriteIDs()
  private var children: [TreeKey: WriteIndex] = [:]

  private var isEmpty: Bool { own.isEmpty && children.isEmpty }

  /// - Precondition: the id is greater than that of every earlier write.
  mutating func insert(_ id: Int64, at path: TreePath) { insert(id, at: path.keys[...]) }

  private mutating func insert(_ id: Int64, at keys: ArraySlice<TreeKey>) {
    guard let key = keys.first else { return own.append(id) }
    children[key, default: WriteIndex()].insert(id, at: keys.dropFirst())
  }

  mutating func remove(_ id: Int64, at path: TreePath) { remove(id, at: path.keys[...]) }

  private mutating func remove(_ id: Int64, at keys: ArraySlice<TreeKey>) {
    guard let key = keys.first else { return own.remove(id) }
    children[key]?.remove(id, at: keys.dropFirst())
    if children[key]?.isEmpty == true { children[key] = nil }
  }

  /// Whether a write stands at, above or below `path`.
  func touches(_ path: TreePath) -> Bool {
    var index = self
    for key in path.keys {
      if !index.own.isEmpty { return true }
      guard let child = index.children[key] else { return false }
      index = child
    }
    return !index.isEmpty
  }

  /// The writes at `path` and above it: the latest one, and how many keys lead to the highest one.
  func covering(_ path: TreePath) -> (last: Int64, depth: Int)? {
    var (index, found): (WriteIndex, (last: Int64, depth: Int)?) = (self, nil)
    for depth in 0...path.keys.count {
      if let last = index.own.last { found = (max(last, found?.last ?? last), found?.depth ?? depth) }
      guard depth < path.keys.count, let child = index.children[path.keys[depth]] else { break }
      index = child
    }
    return found
  }

  /// The writes at `path` and below it, in their order.
  func writes(atAndBelow path: TreePath) -> [Int64] {
    var index = self
    for key in path.keys {
      guard let child = index.children[key] else { return [] }
      index = child
    }
    var found: Set<Int64> = []
    index.collect(into: &found)
    return found.sorted()
  }

  private func collect(into found: inout Set<Int64>) {
    own.forEach { found.insert($0) }
    for child in children.values { child.collect(into: &found) }
  }
}

/// Increasing numbers, mostly removed from the front; that costs no copy of the rest.
private struct WriteIDs: Sendable {
  private var ids: [Int64] = []
  private var head = 0

  var isEmpty: Bool { head == ids.count }
  var last: Int64? { isEmpty ? nil : ids.last }

  mutating func append(_ id: Int64) { ids.append(id) }

  mutating func remove(_ id: Int64) {
    guard !isEmpty, ids[head] != id else {
      head += isEmpty ? 0 : 1
      if head > 32, head * 2 > ids.count {
        ids.removeFirst(head)
        head = 0
      }
      return
    }
    if let index = ids[head...].firstIndex(of: id) { ids.remove(at: index) }
  }

  func forEach(_ body: (Int64) -> Void) { ids[head...].forEach(body) }
}
