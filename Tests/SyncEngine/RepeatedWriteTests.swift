import MartletJSON
import MartletModels
import MartletSyncEngine
import Testing

/// Writes that are made again after a conflict, and saves of a program that sees a record in another form.
@Suite struct RepeatedWriteTests {
  private static func record(_ values: JSONValue...) -> Record { Record(values: values) }

  private static func image(_ record: Record?, _ position: Int64) -> ServerImage {
    ServerImage(record: record, version: position, position: position)
  }

  @Test
  func `P15: a creation that is made again takes fields that it did not give, or the writes behind it lose theirs`()
    throws
  {
    var replica = RecordReplica()
    _ = try replica.save(Self.record("a", "mine", .null, .null), number: 1)
    replica.send(1)
    _ = try replica.save(Self.record("a", "later", .null, 5), number: 2)
    let theirs = Self.image(Self.record("a", "theirs", "owner", 7), 3)
    #expect(replica.resolve(1, .retryLocal, theirs, newNumber: 3) == [])
    #expect(
      replica.pending.map(\.content) == [
        .update([FieldPatch(field: 1, old: "theirs", new: "mine")]),
        .update([FieldPatch(field: 1, old: "mine", new: "later"), FieldPatch(field: 3, old: 7, new: 5)]),
      ])
    #expect(replica.visible == Self.record("a", "later", "owner", 5))
  }

  @Test func `P15: a list that is changed again loses what others have added, or what a later write adds`() throws {
    var replica = RecordReplica(server: Self.image(Self.record(["a"]), 1))
    _ = try replica.save(Self.record(["a", "b"]), number: 1)
    replica.send(1)
    _ = try replica.save(Self.record(["a", "b", "c"]), number: 2)
    let theirs = Self.image(Self.record(["a", "x"]), 3)
    #expect(replica.resolve(1, .retryLocal, theirs, newNumber: 3) == [])
    #expect(
      replica.pending.map(\.content) == [
        .update([FieldPatch(field: 0, old: ["a", "x"], new: ["a", "x", "b"])]),
        .update([FieldPatch(field: 0, old: ["a", "x", "b"], new: ["a", "x", "b", "c"])]),
      ])
  }

  @Test func `a creation over a record that the store does not show is invisible, or its deletion is not sent`() throws
  {
    var replica = RecordReplica(server: Self.image(nil, 1))
    _ = try replica.save(Self.record("a", 9, .null), number: 1)
    replica.send(1)
    var hidden = Self.image(nil, 1)
    hidden.hidden = Self.record("a", 2, "owner")
    #expect(replica.resolve(1, .retryLocal, hidden, newNumber: 2) == [])
    #expect(replica.visible == Self.record("a", 9, "owner"))
    #expect(replica.pending.first?.over == hidden.hidden)
    #expect(replica.server?.hidden == nil)
    var refused = replica
    #expect(refused.reject(2, .unauthorized).count == 1)
    #expect(refused.visible == nil)
    #expect(try replica.write(PendingWrite(number: 3, content: .delete)) == .merged(into: 2))
    #expect(replica.pending == [PendingWrite(number: 2, content: .delete)].map(Self.retried))
  }

  private static func retried(_ write: PendingWrite) -> PendingWrite {
    var write = write
    write.conflicts = 1
    return write
  }

  @Test func `a save writes fields that differ in their form alone, or drops members that its program lacks`() throws {
    let stored = Self.record("2024-05-01T10:00:00Z", ["street": "s", "zip": "z"], 1)
    var replica = RecordReplica(server: Self.image(stored, 1))
    let seen = Self.record("2024-05-01T10:00:00.000Z", ["street": "s"], 1)
    #expect(try replica.save(seen, number: 1) { _ in seen } == nil)
    let edited = Self.record("2024-05-01T10:00:00.000Z", ["street": "t"], 1)
    _ = try replica.save(edited, number: 1) { _ in seen }
    let patch = FieldPatch(field: 1, old: ["street": "s", "zip": "z"], new: ["street": "t", "zip": "z"])
    #expect(replica.pending.first?.content == .update([patch]))
  }
}
