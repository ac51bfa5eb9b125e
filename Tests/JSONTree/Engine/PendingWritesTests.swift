import MartletVocabulary
import Testing

@testable import MartletJSONTree

/// Settling pending writes: what stays visible, and what it costs.
@Suite struct PendingWritesTests {
  private static func leaf(_ number: Int) -> TreeNode { TreeNode(.int(Int64(number))) }
  private static func key(_ number: Int) -> TreeKey { TreeKey(unchecked: "k\(number)") }

  /// Adds writes with ids from 0 and settles them in order; returns how many were laid again.
  private func relaid(_ count: Int, _ write: (Int) -> (TreePath, PendingTreeWrite.Content)) -> Int {
    var writes = PendingWrites()
    for number in 0..<count {
      let (path, content) = write(number)
      writes.add(PendingTreeWrite(id: Int64(number), path: path, content: content, isVisible: true))
    }
    for number in 0..<count { _ = writes.remove(Int64(number)) }
    #expect(writes.writes(at: .root).isEmpty)
    #expect(!writes.touches(.root))
    return writes.relaid
  }

  @Test func `settling many pending writes in order lays none of them again for each answer`() {
    let count = 2_000
    // Each at a place of its own, all at one place, and merges that share a path.
    #expect(relaid(count) { ([Self.key($0)], .overwrite(Self.leaf($0))) } == 0)
    #expect(relaid(count) { (["one"], .overwrite(Self.leaf($0))) } == 0)
    #expect(
      relaid(count) { number in
        let shared = TreeWrite(path: ["shared"], node: Self.leaf(number))
        return (.root, .merge([shared, TreeWrite(path: [Self.key(number)], node: Self.leaf(number))]))
      } == 0)
    // Writes below one that is answered first are laid again once.
    #expect(
      relaid(count) { $0 == 0 ? (["a"], .overwrite(Self.leaf(1))) : (["a", Self.key($0)], .overwrite(Self.leaf($0))) }
        == count - 1)
  }

  @Test func `what stays visible is what the remaining writes make, in whatever order writes are settled`() {
    var chance = SeededRandom(seed: 11)
    for round in 0..<300 {
      var (writes, all) = (PendingWrites(), [PendingTreeWrite]())
      for id in 0..<Int.random(in: 2...12, using: &chance) {
        let write = Self.write(Int64(id), &chance)
        writes.add(write)
        all.append(write)
      }
      while !all.isEmpty {
        let settled = all.remove(at: Int.random(in: 0..<all.count, using: &chance))
        _ = writes.remove(settled.id)
        var fresh = PendingWrites()
        for write in all { fresh.add(write) }
        #expect(writes.writes(at: .root).writes == fresh.writes(at: .root).writes, "round \(round)")
        for path in [["a"], ["a", "b"], ["b", "c"], []] as [TreePath] {
          #expect(writes.touches(path) == fresh.touches(path), "round \(round) at \(path)")
        }
        #expect(writes.all.map(\.id) == all.map(\.id))
      }
    }
  }

  private static func path(_ chance: inout SeededRandom, _ least: Int) -> TreePath {
    TreePath(
      (0..<Int.random(in: least...3, using: &chance)).map { _ in
        TreeKey(unchecked: ["a", "b", "c", ".priority"][Int.random(in: 0...2, using: &chance)])
      })
  }

  private static func node(_ chance: inout SeededRandom) -> TreeNode {
    switch Int.random(in: 0...2, using: &chance) {
    case 0: .empty
    case 1: leaf(Int.random(in: 0...9, using: &chance))
    default: TreeNode.empty.setting(path(&chance, 1), to: leaf(1)).withPriority(.int(3))
    }
  }

  private static func write(_ id: Int64, _ chance: inout SeededRandom) -> PendingTreeWrite {
    let isVisible = Int.random(in: 0...5, using: &chance) > 0
    guard Bool.random(using: &chance) else {
      return PendingTreeWrite(
        id: id, path: path(&chance, 0), content: .overwrite(node(&chance)), isVisible: isVisible)
    }
    var parts: [TreeWrite] = []
    for _ in 0..<3 {
      let path = path(&chance, 1)
      if parts.contains(where: { $0.path.contains(path) || path.contains($0.path) }) { continue }
      parts.append(TreeWrite(path: path, node: node(&chance)))
    }
    return PendingTreeWrite(id: id, path: path(&chance, 0), content: .merge(parts), isVisible: isVisible)
  }
}
