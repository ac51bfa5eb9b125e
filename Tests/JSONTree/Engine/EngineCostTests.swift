import Testing

@testable import MartletJSONTree

/// What a change of one leaf makes anew, for listeners of nodes of different sizes.
@Suite struct EngineCostTests {
  /// Pages of the view's caches that were not there before.
  private static func copied(_ before: View, _ after: View) -> Int {
    var (known, copies): (Set<ObjectIdentifier>, Int) = ([], 0)
    func visit(_ page: SortedPage<TreeKey, TreeNode>?, _ body: (SortedPage<TreeKey, TreeNode>) -> Bool) {
      guard let page, body(page) else { return }
      for child in page.children { visit(child, body) }
    }
    for cache in [before.cache.event, before.cache.server] {
      visit(cache.node.children.root) { known.insert(ObjectIdentifier($0)).inserted }
    }
    for cache in [after.cache.event, after.cache.server] {
      visit(cache.node.children.root) {
        let isNew = known.insert(ObjectIdentifier($0)).inserted
        copies += isNew ? 1 : 0
        return isNew
      }
    }
    return copies
  }

  private static func engine(_ count: Int, _ window: Window) -> TreeEngine {
    let leaf = TreeNode.empty.setting(["n"], to: TreeNode(.int(1)))
    let entries = (0..<count).map { (key: TreeKey(unchecked: String($0)), value: leaf) }
    var engine = TreeEngine()
    _ = engine.listen(at: .root, .all, as: ListenerID(1))
    _ = engine.listen(at: .root, window, as: ListenerID(2))
    _ = engine.serverOverwrite(.root, with: TreeNode(children: SortedMap(sorted: entries)))
    return engine
  }

  @Test func `a change below one of many children costs by depth, for the whole node and for a window`() throws {
    var most: [Int: Int] = [:]
    for count in [100, 20_000] {
      var engine = Self.engine(count, Window(limit: .last(50)))
      for (step, key) in [0, count / 2, count - 1].enumerated() {
        let path: TreePath = [TreeKey(unchecked: String(key)), "n"]
        let before = engine.tree
        let shown = engine.overwrite(path, with: TreeNode(.int(2)), id: Int64(step + 1))
        _ = engine.serverOverwrite(path, with: TreeNode(.int(2)))
        _ = engine.acknowledge(Int64(step + 1))
        #expect(shown.events.count == (key >= count - 50 ? 4 : 2))
        for (old, new) in zip(before.views, engine.tree.views) {
          most[count] = max(most[count] ?? 0, Self.copied(old, new))
        }
      }
    }
    let (few, many) = (try #require(most[100]), try #require(most[20_000]))
    #expect(many <= 3 * few, "\(most)")
  }
}
