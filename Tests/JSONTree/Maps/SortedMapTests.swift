import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletJSONTree

@Suite struct SortedMapTests {
  @Test(arguments: 0..<6)
  func `a sorted map does what a dictionary does, in order, and old versions stay`(seed: Int) {
    var chance = SeededRandom(seed: UInt64(seed))
    let span = UInt64(seed % 2 == 0 ? 60 : 4_000)
    var model: [Int: Int] = [:]
    var map = SortedMap<Int, Int>()
    var isSame = true
    var kept: [(SortedMap<Int, Int>, [Int: Int])] = []
    for step in 0..<2_000 {
      let key = Int(chance.next() % span)
      if chance.next() % 10 < (step < 1_000 ? 7 : 3) {
        map = map.setting(key, to: step)
        model[key] = step
      } else {
        map = map.removing(key)
        model[key] = nil
      }
      if step % 500 == 0 { kept.append((map, model)) }
      isSame = isSame && map.count == model.count && map[key] == model[key]
    }
    #expect(isSame)
    for (map, model) in kept + [(map, model)] { Self.expectSame(map, model, &chance) }
    for (old, before) in kept { Self.expectDifference(from: old, before, to: map, model) }
  }

  private static func expectSame(_ map: SortedMap<Int, Int>, _ model: [Int: Int], _ chance: inout SeededRandom) {
    let sorted = model.sorted { $0.key < $1.key }
    #expect(map.entries.map(\.key) == sorted.map(\.key))
    #expect(map.entries.map(\.value) == sorted.map(\.value))
    #expect(map.first?.key == sorted.first?.key)
    #expect(map.last?.key == sorted.last?.key)
    for _ in 0..<20 {
      let key = Int(chance.next() % 4_100)
      #expect(map.rank(of: key) == sorted.count { $0.key < key })
      #expect(map.entry(before: key)?.key == sorted.last { $0.key < key }?.key)
      #expect(map.entry(after: key)?.key == sorted.first { $0.key > key }?.key)
      let rank = Int(chance.next() % UInt64(sorted.count + 2))
      var (forward, backward): ([Int], [Int]) = ([], [])
      map.forEach(from: rank) {
        forward.append($0 + $1 * 0)
        return forward.count < 70
      }
      map.forEachReversed(before: rank) {
        backward.append($0 + $1 * 0)
        return true
      }
      #expect(forward == Array(sorted.dropFirst(rank).prefix(70).map(\.key)))
      #expect(backward == sorted.prefix(rank).map(\.key).reversed())
    }
  }

  private static func expectDifference(
    from old: SortedMap<Int, Int>, _ before: [Int: Int], to new: SortedMap<Int, Int>, _ after: [Int: Int]
  ) {
    var found: [Int: [Int?]] = [:]
    new.forEachDifference(from: old, areEqual: ==) { found[$0] = [$1, $2] }
    var expected: [Int: [Int?]] = [:]
    for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
      expected[key] = [before[key], after[key]]
    }
    #expect(found == expected)
  }

  @Test func `a map of sorted entries is the one made entry by entry`() {
    for count in [0, 1, 48, 49, 1_000, 5_000] {
      let map = SortedMap(sorted: (0..<count).map { (key: $0, value: $0) })
      #expect(map.keys == Array(0..<count))
      #expect(map.setting(count, to: 1).removing(0).count == count)
    }
  }

  /// Pages of `new` that `old` does not have.
  private static func copied<Key, Value>(_ old: SortedMap<Key, Value>, _ new: SortedMap<Key, Value>) -> Int {
    var (before, copies): (Set<ObjectIdentifier>, Int) = ([], 0)
    func visit(_ page: SortedPage<Key, Value>?, _ body: (SortedPage<Key, Value>) -> Bool) {
      guard let page, body(page) else { return }
      for child in page.children { visit(child, body) }
    }
    visit(old.root) { before.insert(ObjectIdentifier($0)).inserted }
    visit(new.root) {
      let isNew = !before.contains(ObjectIdentifier($0))
      copies += isNew ? 1 : 0
      return isNew
    }
    return copies
  }

  @Test func `a leaf write copies pages by the depth of the tree and not by the number of children`() {
    var most: [Int: Int] = [:]
    for count in [100, 1_000_000] {
      let map = SortedMap(sorted: (0..<count).map { (key: $0, value: $0) })
      for key in [0, count / 3, count / 2, count - 1, count] {
        most[count] = max(most[count] ?? 0, Self.copied(map, map.setting(key, to: -1)))
      }
    }
    #expect(most[100] == 2)
    #expect((most[1_000_000] ?? .max) <= 6, "\(most)")
  }

  @Test func `a write deep in a large node shares all but the pages on its path`() throws {
    let entries = (0..<20_000).map { (key: TreeKey(unchecked: String($0)), value: TreeNode(.int(Int64($0)))) }
    let node = TreeNode(children: SortedMap(sorted: entries))
    let changed = node.setting(try TreePath("777/a/b"), to: TreeNode(.bool(true)))
    #expect(Self.copied(node.children, changed.children) <= 3)
    #expect(changed.child("777").json() == ["a": ["b": true]])
    #expect(changed.childCount == node.childCount)
  }
}
