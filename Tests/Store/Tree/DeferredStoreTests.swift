import MartletChangeFeed
import MartletJSON
import MartletJSONTree
import MartletStore
import Testing

/// Writes that wait for the end of a session, as the store keeps them.
@Suite struct DeferredStoreTests {
  private static func change(_ name: TreeKey, _ number: Int64) -> TreeChange {
    TreeChange(path: [name], node: TreeNode(.int(number)))
  }

  @Test func `deferred writes keep their order over restarts, and no subscriber sees them`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(
      .transaction { transaction in
        for body in ["one", "two", "three"] { _ = try transaction.deferWrite(Array(body.utf8), of: "ada") }
        _ = try transaction.deferWrite(Array("other".utf8), of: "bob")
      })
    try fixture.commit(.transaction { try $0.removeDeferred(of: "ada", [2]) })
    #expect(fixture.recorder.changes.isEmpty)
    let again = try StoreFixture(files: fixture.files, term: 2)
    try again.read { snapshot throws(StoreError) in
      #expect(try snapshot.deferredOwners() == ["ada", "bob"])
      #expect(
        try snapshot.deferredWrites(of: "ada").map { String(decoding: $0.body, as: UTF8.self) } == ["one", "three"])
      #expect(try snapshot.deferredWrites(of: "ada").map(\.number) == [1, 3])
    }
  }

  @Test func `a series is one commit of several transactions, of which each happens or does not`() throws {
    struct Stop: Error {}
    let fixture = try StoreFixture()
    let groups = fixture.recorder.batches.count
    try fixture.commit(
      .series { transaction in
        try transaction.separately {
          try transaction.put(Self.change("a", 1))
          try transaction.put(Self.change("b", 1))
        }
        try? transaction.separately {
          try transaction.put(Self.change("a", 2))
          throw Stop()
        }
        try transaction.separately { try transaction.put(Self.change("c", 3)) }
        _ = try transaction.deferWrite([1], of: "ada")
      })
    #expect(fixture.recorder.batches.count == groups + 1)
    #expect(fixture.recorder.changes.map { $0.tree?.path.description } == ["/a", "/b", "/c"])
    #expect(fixture.recorder.changes.map(\.endsTransaction) == [false, true, true])
    let json = try fixture.read { snapshot throws(StoreError) in try snapshot.tree.node(at: .root).exportedJSON() }
    #expect(json == ["a": 1, "b": 1, "c": 3])
  }

  @Test func `a deferred write that is larger than its limit is refused, and none is kept`() throws {
    var limits = StoreLimits()
    limits.deferredBytes = 20
    let fixture = try StoreFixture(limits: limits)
    let results = try fixture.commit([
      WriteRequest(.transaction { _ = try $0.deferWrite(Array(repeating: 0, count: 30), of: "ada") })
    ])
    #expect(results[0].errorCode == .invalid)
    let owners = try fixture.read { snapshot throws(StoreError) in try snapshot.deferredOwners() }
    #expect(owners == [])
  }
}
