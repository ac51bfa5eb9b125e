import MartletChangeFeed
import MartletJSON
import MartletJSONTree
import MartletSQLite
import MartletStore
import MartletVocabulary
import Testing

/// The log's entries of the tree: large writes in several, paths written once.
@Suite struct TreeEntryTests {
  private static let limit = 400

  private func fixture(_ limit: Int = limit) throws -> StoreFixture {
    var limits = StoreLimits()
    limits.treeBytes = limit
    return try StoreFixture(limits: limits)
  }

  /// A node of some depth with texts, numbers and priorities.
  private static func node(_ seed: UInt64, leaves: Int) -> TreeNode {
    var (chance, node) = (SeededRandom(seed: seed), TreeNode.empty)
    for number in 0..<leaves {
      let path = TreeStoreTests.path(&chance, 0...2).child(TreeKey(unchecked: "k\(number)"))
      let text = String(repeating: "t", count: Int.random(in: 0...40, using: &chance))
      node = node.setting(path, to: TreeNode(.string(text), priority: number % 7 == 0 ? .int(3) : nil))
      if number % 5 == 0, let parent = path.parent {
        node = node.setting(parent, to: node.node(at: parent).withPriority(.string("p")))
      }
    }
    return node
  }

  private func groups(_ fixture: StoreFixture) throws -> [LogGroup] {
    let range = try fixture.read { snapshot throws(StoreError) in try snapshot.groups(after: 0, bytes: .max) }
    guard case .groups(let groups) = range else { return [] }
    return groups
  }

  @Test(arguments: 1...6)
  func `a write that is larger than an entry takes several, and is one change for every reader`(seed: UInt64) throws {
    let fixture = try fixture()
    let change = TreeChange(path: ["list", "a"], node: Self.node(seed, leaves: 60))
    let before = fixture.store.position.head
    let receipt = try fixture.commit(.transaction { try $0.put(change) })
    let entries = try #require(try groups(fixture).last?.entries)
    #expect(entries.count > 4)
    #expect(entries.allSatisfy { $0.count <= Self.limit })
    // One mark, at the end.
    #expect(entries.map { $0[1] & 0x80 != 0 } == entries.indices.map { $0 == entries.count - 1 })
    #expect(receipt.offsets == (before + 1)...(before + Int64(entries.count)))
    #expect(fixture.store.position.head == before + Int64(entries.count))
    // Subscribers, the log's readers and a follower get the change whole.
    #expect(fixture.recorder.changes.last?.tree == change)
    #expect(fixture.recorder.changes.last?.offset == fixture.store.position.head)
    #expect(fixture.recorder.changes.last?.endsTransaction == true)
    #expect(try fixture.log().last?.tree == change)
    #expect(try fixture.log().last?.offset == fixture.store.position.head)
    var limits = StoreLimits()
    limits.treeBytes = Self.limit
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all, limits: limits)
    for group in try groups(fixture) { #expect(try follower.fold(group.bytes).errorCode == nil) }
    #expect(follower.recorder.changes.last?.tree == change)
    let json = try follower.read { snapshot throws(StoreError) in try snapshot.tree.node(at: .root).exportedJSON() }
    #expect(json == ["list": ["a": change.node.exportedJSON()]])
    #expect(try Store.check(fixture.files).isSound)
  }

  @Test func `a resend of a write in several entries gets the same offsets`() throws {
    let fixture = try fixture()
    let change = TreeChange(path: .root, node: Self.node(9, leaves: 40))
    let number = WriteNumber(client: "c", number: 1)
    let first = try fixture.commit(.transaction { try $0.put(change) }, number)
    let again = try fixture.commit(.transaction { _ in }, number)
    #expect(again.isRepeat)
    #expect(again.offsets == first.offsets)
    #expect(again.outcomes == first.outcomes)
  }

  @Test func `a leaf that is larger than an entry is refused with the limit, and leaves nothing`() throws {
    let fixture = try fixture()
    let head = fixture.store.position.head
    let node = TreeNode.empty.setting(["a"], to: TreeNode(.int(1)))
      .setting(["b"], to: TreeNode(.string(String(repeating: "x", count: 500))))
    let results = try fixture.commit([
      WriteRequest(.transaction { try $0.put(TreeChange(path: ["n"], node: node)) })
    ])
    let error = #expect(throws: StoreError.self) { try results[0].get() }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("larger than the limit of 400") == true)
    #expect(fixture.store.position.head == head)
    #expect(try fixture.read { snapshot throws(StoreError) in try snapshot.tree.glimpse(at: .root) } == .absent)
  }

  @Test func `paths of an entry are not repeated for each leaf`() throws {
    let fixture = try fixture(1 << 20)
    let long = TreeKey(unchecked: String(repeating: "long", count: 50))
    var node = TreeNode.empty
    for number in 0..<1_000 {
      node = node.setting([long, TreeKey(unchecked: "child\(number)")], to: TreeNode(.bool(true)))
    }
    let wanted = node
    try fixture.commit(.transaction { try $0.put(TreeChange(path: ["list"], node: wanted)) })
    let entry = try #require(try groups(fixture).last?.entries.last)
    // A leaf takes the digits that differ, their end, two lengths and its value.
    #expect(entry.count < 12_000)
    #expect(try fixture.log().last?.tree?.node == wanted)
  }

  /// An entry of format 3, byte by byte: each leaf with its whole path.
  @Test func `entries with whole paths, as they were written before, are still read`() throws {
    let fixture = try StoreFixture()
    let follower = try Follower(files: MemoryFiles(), shapes: Models.all)
    for group in try groups(fixture) { #expect(try follower.fold(group.bytes).errorCode == nil) }
    let rows: [(TreePath, TreeScalar)] = [(["a", "x"], .bool(true)), (["a", "y"], .string("é")), (["b"], .int(7))]
    var entry: [UInt8] = [3, 9 | 0x80, 1, 1, UInt8(ascii: "l"), UInt8(rows.count)]
    for (path, scalar) in rows {
      let (key, value) = (PathKeyCoding.encode(path), LeafRow(path: path, scalar: scalar).encodedValue)
      entry += [UInt8(key.count)] + key + [UInt8(value.count)] + value
    }
    let position = follower.store.position
    let group = LogGroup(
      first: position.head + 1, term: position.term, time: 2_000_000, checksumBefore: position.checksum,
      entries: [entry])
    #expect(try follower.fold(group.bytes).errorCode == nil)
    let json = try follower.read { snapshot throws(StoreError) in try snapshot.tree.node(at: .root).exportedJSON() }
    #expect(json == ["l": ["a": ["x": true, "y": "é"], "b": 7]])
    #expect(follower.recorder.changes.last?.tree?.node.exportedJSON() == ["a": ["x": true, "y": "é"], "b": 7])
  }
}
