import MartletChangeFeed
import MartletJSON
import MartletJSONTree
import MartletRuntime
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// The tree in the store: rows against a tree in memory, rows read, the log's entries.
@Suite struct TreeStoreTests {
  @Test func `random writes leave the rows of the tree that the same writes make in memory`() throws {
    let fixture = try StoreFixture()
    var (chance, expected) = (SeededRandom(seed: 3), TreeNode.empty)
    for round in 0..<150 {
      let change = Self.change(&chance)
      expected = expected.setting(change.path, to: change.node)
      try fixture.commit(.transaction { try $0.put(change) })
      let wanted = expected
      let found = try fixture.read { snapshot throws(StoreError) in try snapshot.tree.node(at: .root) }
      #expect(found.exportedJSON() == wanted.exportedJSON(), "round \(round): \(change)")
      let paths = (0..<4).map { _ in Self.path(&chance, 0...3) }
      let windows = (0..<3).map { _ in Self.window(&chance) }
      try fixture.read { snapshot throws(StoreError) in
        for path in paths {
          let node = wanted.node(at: path)
          #expect(try snapshot.tree.glimpse(at: path) == TreeGlimpse(node), "round \(round) at \(path)")
          #expect(try snapshot.tree.priority(at: path) == node.priority, "round \(round) at \(path)")
          var key: TreeKey?
          for entry in node.children.entries {
            key = try snapshot.tree.child(of: path, after: key)
            #expect(key == entry.key, "round \(round) below \(path)")
          }
          #expect(try snapshot.tree.child(of: path, after: key) == nil)
          for window in windows where !node.isLeaf {
            let part = window.isUnbounded ? node : OrderedChildren(node, order: window.order).node(in: window)
            let read = try snapshot.tree.node(at: path, in: window)
            #expect(read.json() == part.json(), "round \(round) at \(path) in \(window)")
          }
        }
      }
    }
  }

  @Test func `a window over many children reads the rows of its own children only`() throws {
    let fixture = try StoreFixture()
    let child = TreeNode.empty.setting(["name"], to: TreeNode(.string("n"))).setting(["size"], to: TreeNode(.int(1)))
    // The first and the last thousand have two leaves, the others one.
    let entries = (0..<50_000).map { number in
      (
        key: TreeKey(unchecked: String(number)),
        value: (1_000..<49_000).contains(number) ? TreeNode(.int(1)) : child
      )
    }
    let all = TreeNode(children: SortedMap(sorted: entries))
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: all)) })
    let windows = [
      Window(limit: .last(50)), Window(limit: .first(50)), Window(start: .key("900"), limit: .first(50)),
      Window(end: .key("49100", isIncluded: false), limit: .last(50)),
    ]
    for window in windows {
      let (count, rows) = try fixture.read { snapshot throws(StoreError) in
        let before = snapshot.readRows
        let node = try snapshot.tree.node(at: ["list"], in: window)
        return (node.childCount, snapshot.readRows - before)
      }
      #expect(count == 50)
      #expect(rows <= 200, "\(window)")
    }
  }

  /// What is written, and below how many levels it stands.
  static let leafWrites: [(path: TreePath, node: TreeNode)] = [
    (["list", "5"], TreeNode(.int(2))), (["list", "5x"], TreeNode(.int(2))),
    (["list", "6", "a", "b"], TreeNode(.int(2))),
    (["list", "7"], TreeNode(.int(2), priority: .int(1))), (["list", "7", ".priority"], TreeNode(.int(3))),
    (["list", "8"], .empty), (["only", "a", "b"], .empty), (["list", ".priority"], TreeNode(.int(3))),
    (["list", "none"], .empty),
  ]

  @Test(arguments: leafWrites.indices)
  func `a leaf is written with at most four other rows read and changed, however many siblings it has`(
    index: Int
  ) throws {
    let (path, node) = Self.leafWrites[index]
    var touched: [Int] = []
    for size in [10, 2_000] {
      let fixture = try StoreFixture()
      let entries = (0..<size).map { (key: TreeKey(unchecked: String($0)), value: TreeNode(.int(1))) }
      let all = TreeNode(children: SortedMap(sorted: entries))
      try fixture.commit(
        .transaction {
          try $0.put(TreeChange(path: ["list"], node: all))
          try $0.put(TreeChange(path: ["only", "a", "b"], node: TreeNode(.int(1))))
        })
      let count = Lock(0)
      try fixture.commit(
        .transaction { transaction in
          let before = transaction.touchedRows
          try transaction.put(TreeChange(path: path, node: node))
          let after = transaction.touchedRows
          count.withLock { $0 = after - before }
        })
      touched.append(count.withLock { $0 })
    }
    #expect(touched[0] == touched[1])
    #expect(touched[1] <= 1 + 4, "\(path)")
  }

  @Test func `a leaf is written without reading the value in front of it`() throws {
    let files = MemoryFiles()
    let fixture = try StoreFixture(files: files)
    try fixture.commit(
      .transaction { try $0.put(TreeChange(path: ["a"], node: TreeNode(.string("as large as a text may be")))) })
    // What is not read is not found to be damaged.
    try Database(path: StoreFormat.databaseName, on: files).execute("UPDATE martlet_tree SET value = x'FF'")
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["b"], node: TreeNode(.int(1)))) })
    #expect(throws: StoreError.self) {
      try fixture.commit(.transaction { try $0.put(TreeChange(path: ["a", "b"], node: TreeNode(.int(1)))) })
    }
  }

  @Test func `a node with more leaves than asked for is refused by name`() throws {
    let fixture = try StoreFixture()
    let node = TreeNode.empty.setting(["x"], to: TreeNode(.int(1))).setting(["y"], to: TreeNode(.int(1)))
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["a"], node: node)) })
    #expect(throws: StoreError(.invalid, "the node /a has more than 1 leaves")) {
      try fixture.read { snapshot throws(StoreError) in try snapshot.tree.node(at: ["a"], limit: 1) }
    }
  }

  @Test func `a transaction that throws leaves neither rows nor entries`() throws {
    struct Stop: Error {}
    let fixture = try StoreFixture()
    let head = fixture.store.position.head
    let results = try fixture.commit([
      WriteRequest(
        .transaction { transaction in
          try transaction.put(TreeChange(path: ["a"], node: TreeNode(.int(1))))
          #expect(try transaction.tree.glimpse(at: ["a"]) == .leaf(.int(1)))
          throw Stop()
        })
    ])
    #expect(throws: StoreError.self) { try results[0].get() }
    #expect(fixture.store.position.head == head)
    #expect(try fixture.read { snapshot throws(StoreError) in try snapshot.tree.glimpse(at: .root) } == .absent)
  }

  // MARK: Chance

  static func path(_ chance: inout SeededRandom, _ count: ClosedRange<Int>) -> TreePath {
    TreePath(
      (0..<Int.random(in: count, using: &chance)).map { _ in
        TreeKey(unchecked: ["a", "b", "1", "10", "é"][Int.random(in: 0...4, using: &chance)])
      })
  }

  static func change(_ chance: inout SeededRandom) -> TreeChange {
    let path = path(&chance, 0...3)
    switch Int.random(in: 0...9, using: &chance) {
    case 0, 1: return TreeChange(path: path, node: .empty)
    case 2: return TreeChange(path: path.child(.priority), node: TreeNode(.int(4)))
    case 3, 4, 5: return TreeChange(path: path, node: TreeNode(.double(0.5), priority: .string("p")))
    default:
      var node = TreeNode.empty
      for _ in 0..<3 { node = node.setting(self.path(&chance, 1...2), to: TreeNode(.string("t"))) }
      return TreeChange(path: path, node: node.withPriority(.int(1)))
    }
  }

  private static func window(_ chance: inout SeededRandom) -> Window {
    func bound(_ chance: inout SeededRandom) -> Window.Bound? {
      guard Bool.random(using: &chance), let key = path(&chance, 1...1).key else { return nil }
      return .key(key, isIncluded: Bool.random(using: &chance))
    }
    let limits: [Window.Limit?] = [nil, .first(2), .last(2), .last(1)]
    return Window(
      start: bound(&chance), end: bound(&chance), limit: limits[Int.random(in: 0...3, using: &chance)])
  }
}
