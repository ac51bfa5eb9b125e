import MartletJSONTree
import MartletTreeRules
import MartletVocabulary
import Testing

/// `newData` as it is read through the writes, against a tree to which the writes are applied.
@Suite struct WrittenTreeTests {
  @Test func `a tree read through writes equals the tree with the writes applied`() throws {
    var chance = SeededRandom(seed: 7)
    for round in 0..<400 {
      let old = Self.node(3, &chance)
      var (writes, new): ([TreeWrite], TreeNode) = ([], old)
      for _ in 0..<Int.random(in: 1...4, using: &chance) {
        var path = Self.path(Int.random(in: 1...3, using: &chance), &chance)
        var node = Int.random(in: 0...2, using: &chance) == 0 ? TreeNode.empty : Self.node(2, &chance)
        if Int.random(in: 0...5, using: &chance) == 0 { (path, node) = (path.child(.priority), TreeNode(.int(5))) }
        guard !writes.contains(where: { $0.path.contains(path) || path.contains($0.path) }) else { continue }
        writes.append(TreeWrite(path: path, node: node))
      }
      // Values, deletions, priorities.
      for write in writes where !write.node.isEmpty && write.path.key?.isPriority != true {
        new = new.setting(write.path, to: write.node)
      }
      for write in writes where write.node.isEmpty { new = new.setting(write.path, to: .empty) }
      for write in writes where write.path.key?.isPriority == true { new = new.setting(write.path, to: write.node) }
      let (overlay, applied) = (WrittenTree(NodeTree(old), writes: writes), NodeTree(new))
      try Self.compare(overlay, applied, .root, "round \(round): \(writes)")
    }
  }

  private static func compare(_ one: some RuleTree, _ two: NodeTree, _ path: TreePath, _ round: String) throws {
    let glimpse = try one.glimpse(at: path)
    #expect(glimpse == two.glimpse(at: path), "\(round) at \(path)")
    #expect(try one.priority(at: path) == two.priority(at: path), "\(round) at \(path)")
    guard path.keys.count < 5 else { return }
    var (left, right): (TreeKey?, TreeKey?) = (nil, nil)
    repeat {
      left = try one.child(of: path, after: left)
      right = two.child(of: path, after: right)
      #expect(left == right, "\(round) below \(path)")
      if let left { try compare(one, two, path.child(left), round) }
    } while left != nil && left == right
  }

  private static func key(_ chance: inout SeededRandom) -> TreeKey {
    TreeKey(unchecked: ["a", "b", "1", "10"][Int.random(in: 0...3, using: &chance)])
  }

  private static func path(_ count: Int, _ chance: inout SeededRandom) -> TreePath {
    TreePath((0..<count).map { _ in key(&chance) })
  }

  private static func node(_ depth: Int, _ chance: inout SeededRandom) -> TreeNode {
    guard depth > 0, Int.random(in: 0...3, using: &chance) > 0 else {
      return TreeNode(.int(Int64.random(in: 0...3, using: &chance)))
    }
    var node = TreeNode.empty
    for _ in 0..<Int.random(in: 0...3, using: &chance) {
      node = node.setting(key(&chance), to: Self.node(depth - 1, &chance))
    }
    return Int.random(in: 0...4, using: &chance) == 0 ? node.withPriority(.int(1)) : node
  }
}
