import MartletJSON
import MartletModels
import MartletSyncEngine
import Testing

@Suite struct RecordReplicaTests {
  static func record(_ values: JSONValue...) -> Record { Record(values: values) }

  static func image(_ record: Record?, _ position: Int64) -> ServerImage {
    ServerImage(record: record, version: position, position: position)
  }

  private static func replica(_ values: JSONValue...) -> RecordReplica {
    RecordReplica(server: image(Record(values: values), 1))
  }

  @Test func `an update of a pending creation is sent as part of it, and a deletion cancels both`() throws {
    var replica = RecordReplica()
    #expect(try replica.save(Self.record("a", 1), number: 1) == .added)
    #expect(try replica.save(Self.record("a", 2), number: 2) == .merged(into: 1))
    #expect(replica.pending == [PendingWrite(number: 1, content: .create(Self.record("a", 2)))])
    #expect(try replica.write(PendingWrite(number: 3, content: .delete)) == .cancelled([1]))
    #expect(replica.visible == nil && replica.pending.isEmpty)
  }

  @Test func `updates merge field by field and keep the value that the first of them replaced`() throws {
    var replica = Self.replica("a", 1, 5)
    #expect(try replica.save(Self.record("b", 1, 5), number: 1) == .added)
    #expect(try replica.save(Self.record("c", 1, 6), number: 2) == .merged(into: 1))
    let patches = [FieldPatch(field: 0, old: "a", new: "c"), FieldPatch(field: 2, old: 5, new: 6)]
    #expect(replica.pending.map(\.content) == [.update(patches)])
    #expect(try replica.save(Self.record("a", 1, 5), number: 3) == .cancelled([1]))
    #expect(try replica.save(Self.record("a", 1, 5), number: 4) == nil)
  }

  @Test func `a write that was sent stays as it is, and later ones follow it`() throws {
    var replica = Self.replica("a", 1)
    _ = try replica.save(Self.record("b", 1), number: 1)
    replica.send(1)
    #expect(try replica.save(Self.record("c", 1), number: 2) == .added)
    #expect(try replica.write(PendingWrite(number: 3, content: .delete)) == .merged(into: 2))
    #expect(replica.pending.map(\.number) == [1, 2])
    #expect(replica.pending.first?.content == .update([FieldPatch(field: 0, old: "a", new: "b")]))
  }

  @Test func `a write with a condition is never merged`() throws {
    var replica = Self.replica("a", 1)
    let condition = Predicate.compare(field: 1, .eq(1))
    #expect(try replica.save(Self.record("b", 1), number: 1, condition: condition) == .added)
    #expect(try replica.save(Self.record("c", 1), number: 2) == .added)
    #expect(try replica.save(Self.record("d", 1), number: 3, condition: condition) == .added)
  }

  @Test func `writes that do not fit the visible record are refused`() {
    var replica = Self.replica("a", 1)
    #expect(throws: RecordReplica.WriteError.exists) {
      try replica.write(PendingWrite(number: 1, content: .create(Self.record("b", 1))))
    }
    var empty = RecordReplica()
    #expect(throws: RecordReplica.WriteError.missing) {
      try empty.write(PendingWrite(number: 1, content: .delete))
    }
  }

  @Test func `a local change of one field does not write the others back when the server has changed them`() throws {
    var replica = Self.replica("a", 1)
    _ = try replica.save(Self.record("b", 1), number: 1)
    // Another client changes the other field meanwhile: the patch does not write it back.
    replica.receive(Self.image(Self.record("a", 7), 2))
    #expect(replica.visible == Self.record("b", 7))
  }

  @Test func `defect 7: integers compare equal, so that an acknowledged version serves the next pending write`() throws
  {
    var replica = Self.replica("a", 1)
    _ = try replica.save(Self.record("a", 2), number: 1)
    replica.send(1)
    _ = try replica.save(Self.record("a", 3), number: 2)
    replica.acknowledge(1, Self.image(Self.record("a", 2), 2))
    #expect(replica.server?.version == 2)
    #expect(replica.pending.map(\.number) == [2])
    #expect(replica.visible == Self.record("a", 3))
    replica.acknowledge(2, Self.image(Self.record("a", 3), 3))
    #expect(replica == RecordReplica(server: Self.image(Self.record("a", 3), 3)))
  }

  @Test func `defect 8: a refused write is rolled back visibly and becomes a dead letter`() throws {
    var replica = RecordReplica()
    _ = try replica.save(Self.record("a", 1), number: 1)
    replica.send(1)
    _ = try replica.save(Self.record("b", 1), number: 2)
    let letters = replica.reject(1, .refused(code: "BAD", message: "no"))
    #expect(letters.map(\.reason) == [.refused(code: "BAD", message: "no"), .dependsOn(number: 1)])
    #expect(letters.map(\.write.number) == [1, 2])
    #expect(replica.visible == nil)
  }

  @Test func `P12: a refused update keeps the later writes that do not need it`() throws {
    var replica = Self.replica("a", 1)
    _ = try replica.save(Self.record("b", 1), number: 1)
    replica.send(1)
    _ = try replica.save(Self.record("b", 2), number: 2)
    let letters = replica.reject(1, .unauthorized)
    #expect(letters.count == 1)
    #expect(replica.visible == Self.record("a", 2))
  }

  @Test func `P15: an edit of what a refused write had written is sent as one of what the server has`() throws {
    var replica = Self.replica("a", 1)
    _ = try replica.save(Self.record("b", 2), number: 1)
    replica.send(1)
    let condition = Predicate.compare(field: 1, .eq(2))
    _ = try replica.save(Self.record("c", 2), number: 2)
    _ = try replica.save(Self.record("d", 2), number: 3, condition: condition)
    _ = replica.reject(1, .unauthorized)
    // The server never had "b": with it as the value that is replaced, the server would take the edit for a conflict.
    #expect(
      replica.pending.map(\.content) == [
        .update([FieldPatch(field: 0, old: "a", new: "c")]), .update([FieldPatch(field: 0, old: "c", new: "d")]),
      ])
    #expect(replica.visible == Self.record("d", 1))
  }

  @Test func `P15: an edit of a value that the server has given to a new record is not taken for a conflict`() throws {
    var replica = RecordReplica()
    _ = try replica.save(Self.record("a", .null, "x"), number: 1)
    replica.send(1)
    _ = try replica.save(Self.record("a", 7, "y"), number: 2)
    // A default of the server's schema.
    replica.acknowledge(1, Self.image(Self.record("a", 5, "x"), 3))
    #expect(
      replica.pending.map(\.content) == [
        .update([FieldPatch(field: 1, old: 5, new: 7), FieldPatch(field: 2, old: "x", new: "y")])
      ])
  }

  @Test func `defect 13: a record can be deleted and made again before the deletion is sent`() throws {
    var replica = Self.replica("a", 1)
    _ = try replica.write(PendingWrite(number: 1, content: .delete))
    #expect(replica.visible == nil)
    #expect(try replica.save(Self.record("new", 9), number: 2) == .added)
    #expect(try replica.save(Self.record("newer", 9), number: 3) == .merged(into: 2))
    #expect(replica.visible == Self.record("newer", 9))
    #expect(replica.pending.map(\.content) == [.delete, .create(Self.record("newer", 9))])
    #expect(try replica.write(PendingWrite(number: 4, content: .delete)) == .cancelled([2]))
    #expect(replica.pending.map(\.number) == [1])
  }

  @Test func `a page read before a removal does not bring the record back`() {
    var replica = Self.replica("a", 1)
    let images = [
      Self.image(nil, 5), Self.image(Self.record("a", 1), 3), Self.image(Self.record("a", 1), 5),
    ]
    let taken = images.map { replica.receive($0) }
    #expect(taken == [true, false, false])
    #expect(replica.visible == nil)
    replica.receive(Self.image(Self.record("again", 1), 6))
    #expect(replica.visible == Self.record("again", 1))
  }

  @Test func `a conflict takes the server's record, repeats the local change, or writes another`() throws {
    var start = Self.replica("a", 1)
    _ = try start.save(Self.record("mine", 1), number: 1)
    start.send(1)
    let theirs = Self.image(Self.record("theirs", 5), 4)

    var remote = start
    let ended = remote.resolve(1, .applyRemote, theirs, newNumber: 2)
    #expect(ended.map(\.reason) == [.conflict])
    #expect(remote.visible == theirs.record && remote.pending.isEmpty)

    var local = start
    #expect(local.resolve(1, .retryLocal, theirs, newNumber: 2) == [])
    #expect(local.visible == Self.record("mine", 5))
    #expect(local.pending.first?.content == .update([FieldPatch(field: 0, old: "theirs", new: "mine")]))
    #expect(local.pending.first?.number == 2 && local.pending.first?.isSent == false)

    var other = start
    #expect(other.resolve(1, .retry(Self.record("both", 6)), theirs, newNumber: 2) == [])
    #expect(other.visible == Self.record("both", 6))

    var gone = start
    let lost = gone.resolve(1, .retryLocal, Self.image(nil, 4), newNumber: 2)
    #expect(lost.map(\.reason) == [.conflict])
    #expect(gone.visible == nil)
  }

  @Test func `P16: an edit behind a write whose outcome is forgotten continues that write`() throws {
    var replica = Self.replica(["a"])
    _ = try replica.save(Self.record(["a", "b"]), number: 1)
    replica.send(1)
    _ = try replica.save(Self.record(["a", "b", "c"]), number: 2)
    _ = replica.reject(1, .refused(code: "OUTCOME_FORGOTTEN", message: ""))
    #expect(
      replica.pending.map(\.content) == [.update([FieldPatch(field: 0, old: ["a", "b"], new: ["a", "b", "c"])])])
  }
}
