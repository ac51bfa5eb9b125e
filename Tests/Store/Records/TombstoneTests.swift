import MartletChangeFeed
import MartletJSON
import MartletModels
import MartletStore
import Testing

/// What is left of deleted records.
struct TombstoneTests {
  private let key = Models.key("a")
  private let create = WriteOperation.create(model: Models.flight, record: Models.flight("a"))
  private let delete = WriteOperation.delete(model: Models.flight, key: Models.key("a"))

  @Test func `a record that is created again continues its key's versions`() throws {
    let fixture = try StoreFixture()
    #expect(try fixture.commit(create).records.map(\.version) == [1])
    #expect(try fixture.commit(delete).records.map(\.version) == [2])
    #expect(try fixture.rows("martlet_tombstones") == 1)
    #expect(try fixture.commit(create).records.map(\.version) == [3])
    #expect(try fixture.rows("martlet_tombstones") == 0)
    #expect(try fixture.get(Models.flight, "a")?.version == 3)
    let reopened = try StoreFixture(files: fixture.files, term: 2)
    #expect(try reopened.commit(delete).records.map(\.version) == [4])
    #expect(try reopened.commit(create).records.map(\.version) == [5])
  }

  @Test func `a deletion that is taken back leaves no tombstone`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(create)
    let failed = WriteRequest(.batch([delete, delete]))
    #expect(try fixture.commit([failed]).first?.errorCode == .notFound)
    #expect(try fixture.rows("martlet_tombstones") == 0)
  }

  @Test func `an expired tombstone counts as absent before and after its row is deleted`() throws {
    var limits = StoreLimits()
    limits.forgottenAtOnce = 1
    let fixture = try StoreFixture(limits: limits)
    let ids = ["a", "b", "c", "d"]
    for id in ids {
      try fixture.commit(.create(model: Models.flight, record: Models.flight(id)))
      try fixture.commit(.delete(model: Models.flight, key: Models.key(.string(id))))
    }
    fixture.clock.advance(31 * 86_400_000)
    fixture.store.maintain()
    fixture.writer.runOnce()
    let left = try fixture.rows("martlet_tombstones")
    #expect((1..<4).contains(left), "\(left)")
    for id in ids {
      let made = try fixture.commit(.create(model: Models.flight, record: Models.flight(id)))
      #expect(made.records.map(\.version) == [1], "\(id)")
    }
  }
}
