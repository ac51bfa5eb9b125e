extension SortedMap {
  package typealias Entry = (key: Key, value: Value)

  package var first: Entry? {
    var page = root
    while let current = page {
      if current.children.isEmpty { return (current.keys[0], current.values[0]) }
      page = current.children[0]
    }
    return nil
  }

  package var last: Entry? {
    var page = root
    while let current = page {
      if current.children.isEmpty {
        return (current.keys[current.keys.count - 1], current.values[current.keys.count - 1])
      }
      page = current.children[current.children.count - 1]
    }
    return nil
  }

  /// How many entries stand before `key`.
  package func rank(of key: Key) -> Int {
    var (page, rank) = (root, 0)
    while let current = page {
      if current.children.isEmpty { return rank + current.position(of: key) }
      let index = current.child(for: key)
      for before in current.children[..<index] { rank += before.count }
      page = current.children[index]
    }
    return rank
  }

  /// The entry with `index` entries before it; nil beyond the end.
  package func entry(at index: Int) -> Entry? {
    guard index >= 0, index < count else { return nil }
    var (page, rest) = (root, index)
    while let current = page {
      if current.children.isEmpty { return (current.keys[rest], current.values[rest]) }
      page = nil
      for child in current.children {
        if rest < child.count {
          page = child
          break
        }
        rest -= child.count
      }
    }
    return nil
  }

  /// The last entry before `key`.
  package func entry(before key: Key) -> Entry? { entry(at: rank(of: key) - 1) }

  /// The first entry after `key`.
  package func entry(after key: Key) -> Entry? {
    let rank = rank(of: key)
    guard let entry = entry(at: rank) else { return nil }
    return entry.key == key ? self.entry(at: rank + 1) : entry
  }

  /// Calls `body` with each entry in order until it returns false.
  ///
  /// - Parameter rank: how many entries are skipped first.
  package func forEach(from rank: Int = 0, _ body: (Key, Value) throws -> Bool) rethrows {
    if let root { _ = try Self.walk(root, skipping: rank, body) }
  }

  private static func walk(
    _ page: SortedPage<Key, Value>, skipping: Int, _ body: (Key, Value) throws -> Bool
  ) rethrows -> Bool {
    var skipping = skipping
    guard !page.children.isEmpty else {
      var index = max(0, skipping)
      while index < page.keys.count {
        guard try body(page.keys[index], page.values[index]) else { return false }
        index += 1
      }
      return true
    }
    for child in page.children {
      if skipping >= child.count {
        skipping -= child.count
        continue
      }
      guard try walk(child, skipping: skipping, body) else { return false }
      skipping = 0
    }
    return true
  }

  /// Calls `body` with each entry from the end to the start until it returns false.
  ///
  /// - Parameter rank: entries at this rank and after it are skipped; by default none.
  package func forEachReversed(before rank: Int = .max, _ body: (Key, Value) throws -> Bool) rethrows {
    if let root { _ = try Self.walkBack(root, before: rank, body) }
  }

  private static func walkBack(
    _ page: SortedPage<Key, Value>, before rank: Int, _ body: (Key, Value) throws -> Bool
  ) rethrows -> Bool {
    guard !page.children.isEmpty else {
      var index = min(rank, page.keys.count) - 1
      while index >= 0 {
        guard try body(page.keys[index], page.values[index]) else { return false }
        index -= 1
      }
      return true
    }
    var start = page.count
    for child in page.children.reversed() {
      start -= child.count
      if start >= rank { continue }
      guard try walkBack(child, before: rank - start, body) else { return false }
    }
    return true
  }

  /// All entries in order.
  package var entries: [Entry] {
    var entries: [Entry] = []
    entries.reserveCapacity(count)
    forEach { key, value in
      entries.append((key, value))
      return true
    }
    return entries
  }

  /// All keys in order.
  package var keys: [Key] { entries.map(\.key) }
}

extension SortedMap {
  /// Calls `body` with each key whose value differs, in order, with both values. Pages that both maps share are
  /// skipped, so that two close versions are compared in time proportional to what differs.
  package func forEachDifference(
    from old: SortedMap, areEqual: (Value, Value) -> Bool, _ body: (Key, Value?, Value?) -> Void
  ) {
    if isIdentical(to: old) { return }
    var (left, right) = (PageCursor(old.root), PageCursor(root))
    while true {
      PageCursor.skipShared(&left, &right)
      switch (left.entry, right.entry) {
      case (nil, nil): return
      case (let before?, nil):
        body(before.key, before.value, nil)
        left.advance()
      case (nil, let after?):
        body(after.key, nil, after.value)
        right.advance()
      case (let before?, let after?):
        if before.key < after.key {
          body(before.key, before.value, nil)
          left.advance()
        } else if after.key < before.key {
          body(after.key, nil, after.value)
          right.advance()
        } else {
          if !areEqual(before.value, after.value) { body(after.key, before.value, after.value) }
          left.advance()
          right.advance()
        }
      }
    }
  }
}

/// A position in a tree of pages, from which whole pages can be skipped.
private struct PageCursor<Key: Comparable & Sendable, Value: Sendable> {
  private var stack: [(page: SortedPage<Key, Value>, index: Int)] = []

  init(_ root: SortedPage<Key, Value>?) {
    if let root { descend(to: root) }
  }

  private mutating func descend(to page: SortedPage<Key, Value>) {
    var page = page
    stack.append((page, 0))
    while !page.children.isEmpty {
      page = page.children[0]
      stack.append((page, 0))
    }
  }

  var entry: (key: Key, value: Value)? {
    stack.last.map { ($0.page.keys[$0.index], $0.page.values[$0.index]) }
  }

  mutating func advance() {
    guard let top = stack.last else { return }
    stack[stack.count - 1].index += 1
    if top.index + 1 == top.page.keys.count { leave(stack.count - 1) }
  }

  /// Leaves the page at `level` of the stack, at whatever entry, for what follows it.
  private mutating func leave(_ level: Int) {
    stack.removeLast(stack.count - level)
    while let top = stack.last {
      let next = top.index + 1
      stack[stack.count - 1].index = next
      if next < top.page.children.count { return descend(to: top.page.children[next]) }
      stack.removeLast()
    }
  }

  /// The levels whose pages begin at this position, from the widest page down.
  private var beginnings: Range<Int> {
    var level = stack.count
    while level > 0, stack[level - 1].index == 0 { level -= 1 }
    // The page above the first of them has its index at that page: it has begun before, but its child begins here.
    return level..<stack.count
  }

  static func skipShared(_ left: inout PageCursor, _ right: inout PageCursor) {
    while true {
      guard let levels = shared(left, right) else { return }
      left.leave(levels.0)
      right.leave(levels.1)
    }
  }

  private static func shared(_ left: PageCursor, _ right: PageCursor) -> (Int, Int)? {
    for one in left.beginnings {
      for two in right.beginnings where left.stack[one].page === right.stack[two].page { return (one, two) }
    }
    return nil
  }
}
