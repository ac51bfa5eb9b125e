import MartletChangeFeed
import MartletJSON
import MartletJSONTree
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// The tree's indexes against the tree in memory, their building, and the rows that are read with them.
@Suite struct TreeIndexTests {
  static let indexes: [TreeIndex] = [
    TreeIndex([], order: .child(["a"])), TreeIndex([nil], order: .value), TreeIndex(["a", nil], order: .child(["b"])),
    TreeIndex(["b"], order: .child(["1", "a"])), TreeIndex([nil, "10"], order: .value),
  ]

  @Test func `random writes leave the index rows that the tree in memory has`() throws {
    var limits = StoreLimits()
    limits.indexedAtOnce = 3
    let fixture = try StoreFixture(limits: limits)
    var (chance, expected) = (SeededRandom(seed: 11), TreeNode.empty)
    var declared = Set(Self.indexes.prefix(3))
    TreeIndexing(fixture.store).declare(declared)
    fixture.writer.run()
    for round in 0..<250 {
      if round % 40 == 20 {
        declared = Set(Self.indexes.filter { _ in Bool.random(using: &chance) })
        TreeIndexing(fixture.store).declare(declared)
        // The writes that follow meet indexes that are not complete.
        fixture.writer.runOnce()
      }
      let change = TreeStoreTests.change(&chance)
      expected = expected.setting(change.path, to: change.node)
      try fixture.commit(.transaction { try $0.put(change) })
      let rows = declared.reduce(0) { count, index in
        var count = count
        index.forEachChild(of: expected, at: .root) { _, _ in count += 1 }
        return count
      }
      #expect(try fixture.rows("martlet_tree_index") == Int64(rows), "round \(round): \(change)")
      try compare(fixture, expected, declared, &chance, "round \(round): \(change)")
    }
    #expect(TreeIndexing(fixture.store).isComplete)
  }

  private func compare(
    _ fixture: StoreFixture, _ expected: TreeNode, _ declared: Set<TreeIndex>, _ chance: inout SeededRandom,
    _ comment: String
  ) throws {
    for index in declared {
      let path = TreePath(index.pattern.map { $0 ?? TreeStoreTests.path(&chance, 1...1).keys[0] })
      let window = Self.window(index.order, &chance)
      let node = expected.node(at: path)
      let part = node.isLeaf ? .empty : OrderedChildren(node, order: index.order).node(in: window)
      let read = try fixture.read { snapshot throws(StoreError) in
        try snapshot.tree.node(at: path, in: window).exportedJSON()
      }
      #expect(read == part.exportedJSON(), "\(comment) at \(path) in \(window)")
    }
  }

  private static func window(_ order: ChildOrder, _ chance: inout SeededRandom) -> Window {
    func bound(_ chance: inout SeededRandom) -> Window.Bound? {
      let values: [OrderValue] = [.null, .scalar(.string("t")), .scalar(.double(0.5)), .scalar(.string("p"))]
      guard let value = values.randomElement(using: &chance), Bool.random(using: &chance) else { return nil }
      let key = Bool.random(using: &chance) ? TreeStoreTests.path(&chance, 1...1).key : nil
      return Window.Bound(value: value, key: key, isIncluded: Bool.random(using: &chance))
    }
    let limits: [Window.Limit] = [.first(1), .last(1), .first(2), .last(2), .first(50)]
    return Window(
      order: order, start: bound(&chance), end: bound(&chance), limit: limits.randomElement(using: &chance))
  }

  // MARK: Cost

  static func list(_ count: Int) -> TreeNode {
    let entries = (0..<count).map { number in
      let child = TreeNode.empty.setting(["name"], to: TreeNode(.string("n\(number)")))
        .setting(["size"], to: TreeNode(.int(Int64((number * 7_919) % count))))
      return (key: TreeKey(unchecked: String(number)), value: child)
    }
    return TreeNode(children: SortedMap(sorted: entries))
  }

  @Test func `a window by an indexed child reads the rows of its own children only`() throws {
    let fixture = try StoreFixture()
    TreeIndexing(fixture.store).declare([TreeIndex(["list"], order: .child(["size"]))])
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: Self.list(5_000))) })
    let order = ChildOrder.child(["size"])
    let bound = Window.Bound.including(.scalar(.int(2_500)))
    let windows = [
      Window(order: order, limit: .last(50)), Window(order: order, limit: .first(50)),
      Window(order: order, start: bound, limit: .first(50)), Window(order: order, end: bound, limit: .last(50)),
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

  @Test func `a leaf below an indexed node costs the same beside few and many siblings`() throws {
    var statements: Set<Int> = []
    for size in [10, 2_000] {
      let fixture = try StoreFixture()
      TreeIndexing(fixture.store).declare([TreeIndex(["list"], order: .child(["size"]))])
      try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: Self.list(size))) })
      let before = fixture.store.writerCounts.statements
      try fixture.commit(
        .transaction { try $0.put(TreeChange(path: ["list", "5", "size"], node: TreeNode(.int(-1)))) })
      statements.insert(fixture.store.writerCounts.statements - before)
    }
    #expect(statements.count == 1)
  }

  @Test func `a window by priority over children without priorities reads the rows of its own children only`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: Self.list(5_000))) })
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["other", ".priority"], node: TreeNode(.int(1)))) })
    let bound = Window.Bound.including(.null, key: "2000")
    let windows = [
      Window(order: .priority, limit: .last(50)), Window(order: .priority, start: bound, limit: .first(50)),
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

  @Test
  func `windows by priority are those of the tree in memory, with priorities and without, also in an older folder`()
    throws
  {
    let files = MemoryFiles()
    var (chance, expected) = (SeededRandom(seed: 17), TreeNode.empty)
    let fixture = try StoreFixture(files: files)
    for round in 0..<150 {
      let change = TreeStoreTests.change(&chance)
      // Stretches of writes without priorities.
      let hasPriorities = round % 50 >= 25
      if !hasPriorities, change.path.key?.isPriority == true { continue }
      let node = hasPriorities ? change.node : change.node.withPriority(nil)
      expected = expected.setting(change.path, to: node)
      try fixture.commit(.transaction { try $0.put(TreeChange(path: change.path, node: node)) })
      try comparePriorities(fixture, expected, &chance, "round \(round)")
    }
    let known = try fixture.rows("martlet_tree_priorities")
    #expect(known > 0)
    // A folder that was written before there was such a table.
    try Database(path: StoreFormat.databaseName, on: files).execute("DROP TABLE martlet_tree_priorities")
    let reopened = try StoreFixture(files: files, term: 2)
    #expect(try reopened.rows("martlet_tree_priorities") == known)
    try comparePriorities(reopened, expected, &chance, "reopened")
  }

  private func comparePriorities(
    _ fixture: StoreFixture, _ expected: TreeNode, _ chance: inout SeededRandom, _ comment: String
  ) throws {
    func bound() -> Window.Bound? {
      let values: [OrderValue] = [.null, .scalar(.int(1)), .scalar(.string("p"))]
      guard let value = values.randomElement(using: &chance), Bool.random(using: &chance) else { return nil }
      let key = Bool.random(using: &chance) ? TreeStoreTests.path(&chance, 1...1).key : nil
      return Window.Bound(value: value, key: key, isIncluded: Bool.random(using: &chance))
    }
    for _ in 0..<4 {
      let path = TreeStoreTests.path(&chance, 0...2)
      let limits: [Window.Limit] = [.first(1), .last(2), .first(50)]
      let window = Window(
        order: .priority, start: bound(), end: bound(), limit: limits.randomElement(using: &chance))
      let node = expected.node(at: path)
      let part = node.isLeaf ? .empty : OrderedChildren(node, order: .priority).node(in: window)
      let read = try fixture.read { snapshot throws(StoreError) in
        try snapshot.tree.node(at: path, in: window).withPriority(nil).exportedJSON()
      }
      #expect(read == part.withPriority(nil).exportedJSON(), "\(comment) at \(path) in \(window)")
    }
  }

  // MARK: Building

  @Test func `an index over data that is there is built in parts, and continued by the next process`() throws {
    let files = MemoryFiles()
    var limits = StoreLimits()
    limits.indexedAtOnce = 10
    let index = TreeIndex(["list"], order: .child(["size"]))
    do {
      let fixture = try StoreFixture(files: files, limits: limits)
      try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: Self.list(35))) })
      TreeIndexing(fixture.store).declare([index])
      fixture.writer.runOnce()
      #expect(try fixture.rows("martlet_tree_index") == 10)
      #expect(!TreeIndexing(fixture.store).isComplete)
      let window = Window(order: .child(["size"]), limit: .last(1))
      let last = try fixture.read { snapshot throws(StoreError) in
        try snapshot.tree.node(at: ["list"], in: window).childCount
      }
      #expect(last == 1)
    }
    let fixture = try StoreFixture(files: files, term: 2, limits: limits)
    TreeIndexing(fixture.store).declare([index])
    fixture.writer.run()
    #expect(TreeIndexing(fixture.store).isComplete)
    #expect(try fixture.rows("martlet_tree_index") == 35)
    TreeIndexing(fixture.store).declare([])
    fixture.writer.runOnce()
    #expect(try fixture.rows("martlet_tree_index") == 25)
    fixture.writer.run()
    #expect(try fixture.rows("martlet_tree_index") == 0)
    #expect(try fixture.rows("martlet_tree_indexes") == 0)
  }

  @Test func `a write during building is in the index once`() throws {
    var limits = StoreLimits()
    limits.indexedAtOnce = 5
    let fixture = try StoreFixture(limits: limits)
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: Self.list(20))) })
    TreeIndexing(fixture.store).declare([TreeIndex(["list"], order: .child(["size"]))])
    fixture.writer.runOnce()
    // One child that has been indexed, one that has not been, one that is new, and one that goes.
    try fixture.commit(
      .transaction { transaction in
        for key in ["1", "17", "90"] as [TreeKey] {
          try transaction.put(TreeChange(path: ["list", key, "size"], node: TreeNode(.int(500))))
        }
        try transaction.put(TreeChange(path: ["list", "18"], node: .empty))
      })
    #expect(TreeIndexing(fixture.store).isComplete)
    #expect(try fixture.rows("martlet_tree_index") == 20)
    let window = Window(order: .child(["size"]), start: .including(.scalar(.int(500))))
    let found = try fixture.read { snapshot throws(StoreError) in
      try snapshot.tree.node(at: ["list"], in: window).children.entries.map(\.key)
    }
    #expect(found == ["1", "17", "90"])
  }

  // MARK: The fold

  @Test func `a follower that declares an index has the authority's rows, also from divided entries`() throws {
    var limits = StoreLimits()
    limits.treeBytes = 400
    let fixture = try StoreFixture(limits: limits)
    let indexes: Set<TreeIndex> = [
      TreeIndex(["list"], order: .child(["size"])), TreeIndex(["list", nil], order: .value),
    ]
    TreeIndexing(fixture.store).declare(indexes)
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all)
    TreeIndexing(follower.store).declare(indexes)
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: Self.list(40))) })
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list", "3"], node: .empty)) })
    let range = try fixture.read { snapshot throws(StoreError) in try snapshot.groups(after: 0, bytes: .max) }
    guard case .groups(let groups) = range else {
      Issue.record("the log has a gap")
      return
    }
    for group in groups { _ = try follower.fold(group.bytes).get() }
    #expect(try Self.rows(fixture.files) == Self.rows(follower.files))
    #expect(try Self.rows(fixture.files).count == 39 * 3)
  }

  private static func rows(_ files: MemoryFiles) throws -> [[UInt8]] {
    let rows = try Database(path: StoreFormat.databaseName, on: files).statement(
      "SELECT key FROM martlet_tree_index ORDER BY key")
    var keys: [[UInt8]] = []
    while try rows.step() { keys.append(rows.bytes(0)) }
    return keys
  }
}
