import MartletJSON
import MartletJSONTree
import MartletTreeWire
import MartletVocabulary
import Testing

/// Hashes by ranges: what a client with an older value is sent.
@Suite struct CompoundHashTests {
  @Test func `the ranges that differ turn the old node into the new one`() {
    var chance = SeededRandom(seed: 5)
    var inexpressible = 0
    for round in 0..<300 {
      let old = Self.node(3, &chance)
      var new = old
      for _ in 0..<Int.random(in: 0...3, using: &chance) {
        new = new.setting(Self.path(&chance), to: Bool.random(using: &chance) ? .empty : Self.node(2, &chance))
      }
      let hash = CompoundHash(old, rangeBytes: 40)
      guard let ranges = hash.differences(from: new) else {
        inexpressible += 1
        continue
      }
      #expect(old.replacing(ranges) == new, "round \(round)")
      if old == new { #expect(ranges.isEmpty, "round \(round)") }
      #expect(CompoundHash(new, rangeBytes: 40).differences(from: new) == [])
    }
    #expect(inexpressible < 30)
  }

  @Test func `one changed leaf of a large node is one range, however large the node is`() throws {
    for count in [100, 3_000] {
      let entries = (0..<count).map { number in
        (key: TreeKey(unchecked: "k\(10_000 + number)"), value: TreeNode(.string("value \(number)")))
      }
      let old = TreeNode(children: SortedMap(sorted: entries))
      let hash = CompoundHash(old, rangeBytes: 512)
      let ranges = try #require(hash.differences(from: old.setting(["k10050"], to: TreeNode(.string("changed")))))
      let range = try #require(ranges.first)
      #expect(ranges.count == 1)
      #expect(range.replacement.childCount < 30)
      #expect(range.contains(["k10050"]))
    }
  }

  @Test func `the text of a range is that of the protocol`() throws {
    // SHA-1 over the text, in base64; the text is made by hand.
    let node = TreeNode.empty.setting(["a", "x"], to: TreeNode(.bool(true))).setting(
      ["a", "y"], to: TreeNode(.string("q\""))
    )
    .setting(["b"], to: TreeNode(.int(1)))
    let hash = CompoundHash(node, rangeBytes: 10_000)
    #expect(hash.paths == [["b"]])
    #expect(hash.hashes == ["wyq/giyVtJNHyKHKHJLRtWgRJ34=", ""])
  }

  @Test func `an engine that knows the node takes ranges as a new value`() throws {
    var engine = TreeEngine()
    _ = engine.listen(at: ["n"], .all, as: ListenerID(1))
    let range = LeafRange(start: nil, end: ["b"], replacement: TreeNode.empty.setting(["b"], to: TreeNode(.int(9))))
    #expect(engine.serverReplace(["n"], [range]).events.isEmpty)
    let old = TreeNode.empty.setting(["a"], to: TreeNode(.int(1))).setting(["c"], to: TreeNode(.int(3)))
    _ = engine.serverOverwrite(["n"], with: old)
    let events = engine.serverReplace(["n"], [range]).events
    #expect(events.map(\.kind) == [.childRemoved, .childAdded, .value])
    #expect(events.last?.node.json() == ["b": 9, "c": 3])
  }

  @Test func `hashes that are not in order, or too few, are not taken`() {
    #expect(CompoundHash(paths: [["b"], ["a"]], hashes: ["", "", ""]) == nil)
    #expect(CompoundHash(paths: [["a"]], hashes: [""]) == nil)
    #expect(CompoundHash(paths: [], hashes: [""]) != nil)
  }

  private static func path(_ chance: inout SeededRandom) -> TreePath {
    TreePath(
      (0..<Int.random(in: 1...3, using: &chance)).map { _ in
        TreeKey(unchecked: ["a", "b", "c", "d"][Int.random(in: 0...3, using: &chance)])
      })
  }

  private static func node(_ depth: Int, _ chance: inout SeededRandom) -> TreeNode {
    var node = TreeNode.empty
    for _ in 0..<Int.random(in: 1...5, using: &chance) {
      let leaf = TreeNode(
        .int(Int64.random(in: 0...3, using: &chance)), priority: Bool.random(using: &chance) ? .int(1) : nil)
      node = node.setting(path(&chance), to: leaf)
    }
    return Int.random(in: 0...3, using: &chance) == 0 ? node.withPriority(.string("p")) : node
  }
}
