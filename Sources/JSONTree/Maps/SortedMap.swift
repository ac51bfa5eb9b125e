/// An immutable sorted map whose versions share what they have in common: a B+ tree of pages that are never changed
/// once they are made. Setting or removing one entry makes as many pages as the tree has levels.
package struct SortedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  var root: SortedPage<Key, Value>?

  /// The empty map.
  package init() {}

  /// The map of `entries`, which are in order and distinct.
  package init(sorted entries: [(key: Key, value: Value)]) {
    guard !entries.isEmpty else { return }
    var level = Self.pieces(entries.count).map { range in
      SortedPage(keys: entries[range].map(\.key), values: entries[range].map(\.value))
    }
    while level.count > 1 {
      let below = level
      level = Self.pieces(below.count).map { SortedPage(children: Array(below[$0])) }
    }
    root = level[0]
  }

  /// Even ranges that fill three quarters of a page, so that a first change splits none.
  private static func pieces(_ count: Int) -> [Range<Int>] {
    let pages = max(1, (count + SortedPage<Key, Value>.most * 3 / 4 - 1) / (SortedPage<Key, Value>.most * 3 / 4))
    return (0..<pages).map { $0 * count / pages..<($0 + 1) * count / pages }
  }

  package var count: Int { root?.count ?? 0 }
  package var isEmpty: Bool { root == nil }

  /// Whether both maps are one version, which is found without comparing entries.
  package func isIdentical(to other: SortedMap) -> Bool { root === other.root }

  package subscript(key: Key) -> Value? {
    var page = root
    while let current = page {
      if current.children.isEmpty {
        let index = current.position(of: key)
        return index < current.keys.count && current.keys[index] == key ? current.values[index] : nil
      }
      page = current.children[current.child(for: key)]
    }
    return nil
  }

  /// The map with `value` under `key`.
  package func setting(_ key: Key, to value: Value) -> SortedMap {
    var result = self
    guard let root else {
      result.root = SortedPage(keys: [key], values: [value])
      return result
    }
    let (left, right) = root.setting(key, to: value)
    result.root = right.map { SortedPage(children: [left, $0]) } ?? left
    return result
  }

  /// The map without `key`.
  package func removing(_ key: Key) -> SortedMap {
    var result = self
    guard let root, self[key] != nil else { return self }
    result.root = root.removing(key)
    // A root with one child is a level too many.
    while let page = result.root, page.children.count == 1 { result.root = page.children[0] }
    return result
  }
}

/// One page: entries, or pages below with the first key of each. Immutable.
final class SortedPage<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  /// Entries of a page, or pages below it. With 64 a million entries are four levels, and a copied page is 2 KiB.
  static var most: Int { 64 }
  static var least: Int { 16 }

  /// The keys of the entries, or the first key of each page below.
  let keys: [Key]
  let values: [Value]
  let children: [SortedPage]
  /// Entries in this page and below.
  let count: Int

  init(keys: [Key], values: [Value]) {
    self.keys = keys
    self.values = values
    children = []
    count = keys.count
  }

  /// - Precondition: at least one page, none of them empty.
  init(children: [SortedPage]) {
    keys = children.map { $0.keys[0] }
    values = []
    self.children = children
    count = children.reduce(0) { $0 + $1.count }
  }

  /// The first position whose key is not before `key`.
  func position(of key: Key) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The page below that holds `key`, or would hold it.
  func child(for key: Key) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if key < keys[middle] { high = middle } else { low = middle + 1 }
    }
    return max(0, low - 1)
  }

  /// The changed page, and a second one when it had to be split.
  func setting(_ key: Key, to value: Value) -> (SortedPage, SortedPage?) {
    guard children.isEmpty else {
      let index = child(for: key)
      let (left, right) = children[index].setting(key, to: value)
      var changed = children
      changed[index] = left
      if let right { changed.insert(right, at: index + 1) }
      return Self.split(changed)
    }
    let index = position(of: key)
    var (keys, values) = (keys, values)
    if index < keys.count, keys[index] == key {
      values[index] = value
    } else {
      keys.insert(key, at: index)
      values.insert(value, at: index)
    }
    guard keys.count > Self.most else { return (SortedPage(keys: keys, values: values), nil) }
    // An entry at the end is probably followed by more: the full page stays nearly full.
    let cut = index == keys.count - 1 ? keys.count - Self.least : keys.count / 2
    return (
      SortedPage(keys: Array(keys[..<cut]), values: Array(values[..<cut])),
      SortedPage(keys: Array(keys[cut...]), values: Array(values[cut...]))
    )
  }

  private static func split(_ children: [SortedPage]) -> (SortedPage, SortedPage?) {
    guard children.count > most else { return (SortedPage(children: children), nil) }
    let cut = children.count / 2
    return (SortedPage(children: Array(children[..<cut])), SortedPage(children: Array(children[cut...])))
  }

  /// The page without `key`, which it holds; nil when nothing is left.
  func removing(_ key: Key) -> SortedPage? {
    guard children.isEmpty else {
      let index = child(for: key)
      var changed = children
      if let page = children[index].removing(key) {
        changed[index] = page
        Self.fill(index, in: &changed)
      } else {
        changed.remove(at: index)
      }
      return changed.isEmpty ? nil : SortedPage(children: changed)
    }
    let index = position(of: key)
    var (keys, values) = (keys, values)
    keys.remove(at: index)
    values.remove(at: index)
    return keys.isEmpty ? nil : SortedPage(keys: keys, values: values)
  }

  /// Joins a page that became small with its neighbour.
  private static func fill(_ index: Int, in pages: inout [SortedPage]) {
    guard max(pages[index].keys.count, pages[index].children.count) < least, pages.count > 1 else { return }
    let first = index == 0 ? 0 : index - 1
    let (left, right) = (pages[first], pages[first + 1])
    let joined: [SortedPage]
    if left.children.isEmpty {
      let (keys, values) = (left.keys + right.keys, left.values + right.values)
      let cut = keys.count > most ? keys.count / 2 : keys.count
      joined = [0..<cut, cut..<keys.count].filter { !$0.isEmpty }.map {
        SortedPage(keys: Array(keys[$0]), values: Array(values[$0]))
      }
    } else {
      let (one, two) = split(left.children + right.children)
      joined = [one] + (two.map { [$0] } ?? [])
    }
    pages.replaceSubrange(first...first + 1, with: joined)
  }
}
