import MartletVocabulary
import Testing

@testable import MartletJSONTree

@Suite struct ListenerIndexTests {
  @Test func `a write finds exactly the listeners on its way and below it`() {
    var chance = SeededRandom(seed: 5)
    var index = ListenerIndex<Int>()
    var model: [Int: TreePath] = [:]
    for step in 0..<600 {
      let path = EngineModel.path(chance.path(4))
      switch chance.below(3) {
      case 0:
        index.insert(step, at: path)
        model[step] = path
      case 1:
        guard let id = model.keys.sorted().first, let old = model.removeValue(forKey: id) else { continue }
        let isRemoved = index.remove(id, at: old)
        #expect(isRemoved)
      default:
        var found: [Int: ListenerIndex<Int>.Relation] = [:]
        index.forEach(concernedBy: path) { found[$0] = $1 }
        var expected: [Int: ListenerIndex<Int>.Relation] = [:]
        for (id, own) in model {
          if let relative = own.relative(to: path) {
            expected[id] = .covering(relative)
          } else if let relative = path.relative(to: own) {
            expected[id] = .below(relative)
          }
        }
        #expect(found == expected)
      }
      #expect(index.count == model.count)
    }
  }

  @Test func `a leaf write looks at the levels of its path and not at all listeners`() throws {
    var index = ListenerIndex<Int>()
    for number in 0..<10_000 { index.insert(number, at: try TreePath("/gates/\(number)")) }
    index.insert(-1, at: try TreePath("/gates"))
    var found: Set<Int> = []
    let visited = index.forEach(concernedBy: try TreePath("/gates/77/state")) { id, _ in found.insert(id) }
    #expect(found == [77, -1])
    #expect(visited == 3)
  }
}

@Suite struct ServedWindowTests {
  @Test(arguments: 0..<40)
  func `a served window follows writes as if it were computed again each time`(seed: Int) {
    var chance = SeededRandom(seed: UInt64(seed) &+ 77)
    let window = chance.window()
    var tree = NaiveTree.random(&chance, depth: 3)
    if case .inner = tree {} else { tree = .inner(["a": .leaf(1), "b": .leaf(2)]) }
    func positions(_ tree: NaiveTree) -> [ChildPosition] {
      tree.keys(in: window).map { window.order.position(of: TreeKey(unchecked: $0), tree.child($0).node) }
    }
    var served = ServedWindow(window, children: positions(tree))
    for _ in 0..<60 {
      let old = tree
      var touched: Set<String> = []
      for _ in 0...chance.below(3) {
        let key = chance.key()
        touched.insert(key)
        tree = tree.setting([key], .random(&chance, depth: 2))
      }
      if tree.isNone { tree = .inner(["c": .leaf(3)]) }
      if tree == .inner(["c": .leaf(3)]) { touched.insert("c") }
      let order = OrderedChildren(tree.node, order: window.order)
      var reads = 0
      let update = served.apply(
        touched.sorted().map { key in
          let node = tree.child(key).node
          return .init(TreeKey(unchecked: key), node.isEmpty ? nil : window.order.value(of: node))
        }
      ) { position in
        reads += 1
        return order.neighbour(of: position, reversed: window.isFilledFromEnd)
          .map { window.order.position(of: $0.key, $0.node) }
      }
      let (before, after) = (old.keys(in: window), tree.keys(in: window))
      #expect(served.keys.map(\.text) == after, "\(window)")
      #expect(Set(update.left.map(\.text)) == Set(before).subtracting(after))
      #expect(Set(update.entered.map(\.text)) == Set(after).subtracting(before))
      #expect(Set(update.changed.map(\.text)) == touched.intersection(before).intersection(after))
      #expect(reads <= 2 * touched.count + 1)
    }
  }
}

@Suite struct LeafRowTests {
  @Test func `a tree is the set of its rows, in the order of their keys`() {
    var chance = SeededRandom(seed: 8)
    for _ in 0..<100 {
      var node = NaiveTree.random(&chance, depth: 3).node
      for _ in 0..<2 {
        let path = EngineModel.path(chance.path(2))
        node = node.setting(path, to: node.node(at: path).withPriority(.int(Int64(chance.below(3)))))
      }
      var rows: [LeafRow] = []
      node.forEachRow { rows.append($0) }
      let keys = rows.map { PathKeyCoding.encode($0.path) }
      #expect(keys == keys.sorted { $0.lexicographicallyPrecedes($1) })
      #expect(TreeNode(rows: rows) == node)
    }
  }

  @Test(arguments: 0..<30)
  func `an overwrite changes the rows to those of the new tree`(seed: Int) throws {
    var chance = SeededRandom(seed: UInt64(seed))
    var (tree, store): (TreeNode, [[UInt8]: [UInt8]]) = (.empty, [:])
    for _ in 0..<50 {
      let path = EngineModel.path(chance.path(3))
      let node = NaiveTree.random(&chance, depth: 2).node
      let first = PathKeyCoding.encode(path)
      let before = store.keys.filter { $0.lexicographicallyPrecedes(first) }.max { $0.lexicographicallyPrecedes($1) }
      let row = before.flatMap { Self.row($0, store[$0] ?? []) }
      let changes = RowChanges(overwriting: path, with: node, rowBefore: row)
      store = store.filter {
        $0.key.lexicographicallyPrecedes(changes.deleted.first)
          || !$0.key.lexicographicallyPrecedes(changes.deleted.end)
      }
      if let leaf = changes.replacedLeaf {
        let replaced = store.removeValue(forKey: leaf)
        #expect(replaced != nil)
      }
      for (key, value, _) in changes.written { store[key] = value }
      tree = tree.setting(path, to: node)
      let rows = store.compactMap { Self.row($0.key, $0.value) }
      #expect(rows.count == store.count)
      #expect(TreeNode(rows: rows) == tree)
    }
  }

  private static func row(_ key: [UInt8], _ value: [UInt8]) -> LeafRow? {
    PathKeyCoding.decode(key).flatMap { LeafRow(path: $0, encodedValue: value) }
  }

  @Test func `a row's value is read as it was written, and damage is noticed`() {
    let scalars: [TreeScalar?] = [nil, .bool(true), .bool(false), .int(-5), .double(0.5), .string("é"), .string("")]
    for scalar in scalars {
      for priority: TreeScalar? in [nil, .int(1), .string("p")] where scalar != nil || priority != nil {
        let row = LeafRow(path: ["a"], scalar: scalar, priority: priority)
        #expect(LeafRow(path: ["a"], encodedValue: row.encodedValue) == row)
        if scalar != nil, priority == nil {
          #expect(LeafRow(path: ["a"], encodedValue: row.encodedValue.dropLast()) == nil)
        }
      }
    }
    #expect(LeafRow(path: ["a"], encodedValue: [9]) == nil)
    #expect(LeafRow(path: ["a"], encodedValue: [0]) == nil)
    #expect(LeafRow(path: ["a"], encodedValue: [5, 0, 0, 0, 0, 0, 0, 0, 9, 1]) == nil)
  }
}
