import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSQLite
import MartletStore
import MartletSyncEngine
import Testing

/// Defects of Amplify's DataStore that concern predicates, each by its number, and what is kept of a write.
@Suite struct DefectTests {
  private static let shape = RecordShape(
    model: 0, name: "Thing", tableName: "Thing",
    columns: [("id", ColumnStorage.text), ("a", .integer), ("b", .text)].map { name, storage in
      RecordColumn(
        name: name, field: name, storage: storage, signature: storage.rawValue, isRequired: false, defaultValue: .null)
    }, key: [0], indexes: [], cascades: [])

  private static let records = [
    Record(values: ["1", 1, "x"]), Record(values: ["2", 2, .null]), Record(values: ["3", .null, "y"]),
  ]

  /// The ids that a predicate selects, which must be the same in SQL and in memory.
  private func selected(_ predicate: Predicate) throws -> [String] {
    let writer = try ClientWriter(path: "/store", on: MemoryFiles(), shapes: [Self.shape], syncs: false)
    _ = try writer.transaction { for record in Self.records { try $0.save(model: 0, record) } }
    let query = WindowQuery(model: 0, predicate: predicate, order: RowOrder([], primaryKey: [0]))
    let rows = try writer.rows(query, .page(offset: 0, count: nil)).rows.compactMap { $0.record[0].string }
    #expect(rows == Self.records.filter { predicate.matches($0) }.compactMap { $0[0].string })
    return rows
  }

  private let isOne = Predicate.compare(field: 1, .eq(1))

  @Test func `defect 1: the negation of a group of one element is a negation`() throws {
    #expect(try selected(.not(.and([isOne]))) == ["2", "3"])
    #expect(try selected(.not(.or([isOne]))) == ["2", "3"])
    #expect(try selected(.not(isOne)) == ["2", "3"])
  }

  @Test func `defect 2: attributeExists works alone and inside a group`() throws {
    let exists = Predicate.compare(field: 2, .attributeExists(true))
    #expect(try selected(exists) == ["1", "3"])
    #expect(try selected(.and([exists])) == ["1", "3"])
    #expect(try selected(.compare(field: 2, .attributeExists(false))) == ["2"])
  }

  @Test func `defect 3: ne selects records without a value, in SQL and in memory`() throws {
    #expect(try selected(.compare(field: 1, .ne(1))) == ["2", "3"])
    #expect(try selected(.compare(field: 1, .ne(.null))) == ["1", "2"])
  }

  @Test func `defect 4: composing predicates from one changes none of them`() throws {
    let base = Predicate.or([isOne])
    let wider = Predicate.or([base, .compare(field: 1, .eq(2))])
    let narrower = Predicate.and([base, .compare(field: 2, .eq("nothing"))])
    #expect(try selected(wider) == ["1", "2"])
    #expect(try selected(narrower) == [])
    #expect(try selected(base) == ["1"])
  }

  @Test func `defect 5: all inside a group adds nothing to it`() throws {
    #expect(try selected(.and([.all, isOne])) == ["1"])
    #expect(try selected(.and([isOne, .all])) == ["1"])
    #expect(try selected(.or([.all, isOne])) == ["1", "2", "3"])
    #expect(try selected(.and([.or([isOne, .none]), .all])) == ["1"])
  }

  @Test func `a write's condition is in the outbox, after a restart as well`() throws {
    let condition = Predicate.and([
      isOne, .not(.compare(field: 2, .beginsWith("q"))), .or([.compare(field: 2, .attributeExists(true))]),
      .compare(field: 2, .size(.between(1, 4))), .compare(field: 1, .between(0, 5)), .compare(field: 2, .ne(.null)),
    ])
    let files = MemoryFiles()
    let key = RecordKey(values: ["1"])
    let writer = try ClientWriter(path: "/store", on: files, shapes: [Self.shape], syncs: true)
    let image = ServerImage(record: Self.records[0], version: 1, position: 1)
    _ = try writer.transaction { transaction in
      try transaction.receive([RemoteChange(model: 0, key: key, image: image)])
      try transaction.save(model: 0, Record(values: ["1", 1, "z"]), where: condition)
    }
    let copy = try ClientWriter(path: "/store", on: MemoryFiles(files.contents), shapes: [Self.shape], syncs: true)
    let kept = try #require(try copy.pending(model: 0, key).first?.condition)
    let all = Self.records + [Record(values: ["4", 1, "quite"]), Record(values: ["5", 1, "longer"])]
    #expect(all.map { kept.matches($0) } == all.map { condition.matches($0) })
    // A write with a condition is not merged with another one.
    _ = try copy.transaction { try $0.save(model: 0, Record(values: ["1", 1, "w"])) }
    #expect(try copy.pending(model: 0, key).count == 2)
  }

  @Test func `a refused write is kept with its reason over a restart, until it is retried or discarded`() throws {
    let files = MemoryFiles()
    let writer = try ClientWriter(path: "/store", on: files, shapes: [Self.shape], syncs: true)
    let key = RecordKey(values: ["1"])
    _ = try writer.transaction { transaction in
      try transaction.save(model: 0, Self.records[0])
      transaction.time = 77
      try transaction.reject(model: 0, key, 1, .refused(code: "RULE", message: "no"))
    }
    let copy = try ClientWriter(path: "/store", on: MemoryFiles(files.contents), shapes: [Self.shape], syncs: true)
    let letter = try #require(try copy.letters().first)
    #expect(letter.letter.reason == .refused(code: "RULE", message: "no"))
    #expect(letter.letter.write.content == .create(Self.records[0]))
    #expect(letter.time == 77)
    #expect(try copy.outbox().isEmpty)
    var isThere = false
    let commit = try copy.transaction { isThere = try RefusedWrites($0).retry(1) }
    #expect(isThere)
    #expect(commit.outbox == [.added(number: 2, model: 0)])
    #expect(try copy.letters().isEmpty)
    #expect(try copy.row(model: 0, key)?.record == Self.records[0])
    _ = try copy.transaction { isThere = try RefusedWrites($0).discard(1) }
    #expect(!isThere)
  }

  @Test func `a refused change of a list that is made again keeps the elements that others have added`() throws {
    let column = RecordColumn(
      name: "b", field: "b", storage: .json, signature: "list", isRequired: false, defaultValue: .null)
    var shape = Self.shape
    shape.columns[2] = column
    let writer = try ClientWriter(path: "/store", on: MemoryFiles(), shapes: [shape], syncs: true)
    let key = RecordKey(values: ["1"])
    func change(_ list: JSONValue, _ position: Int64) -> RemoteChange {
      let record = Record(values: ["1", 1, list])
      return RemoteChange(
        model: 0, key: key, image: ServerImage(record: record, version: position, position: position))
    }
    _ = try writer.transaction { try $0.receive([change(["first"], 1)]) }
    _ = try writer.transaction { try $0.save(model: 0, Record(values: ["1", 1, ["first", "mine"]])) }
    _ = try writer.transaction { try $0.reject(model: 0, key, 1, .conflict) }
    _ = try writer.transaction { try $0.receive([change(["first", "theirs"], 2)]) }
    _ = try writer.transaction { _ = try RefusedWrites($0).retry(1) }
    #expect(try writer.row(model: 0, key)?.record == Record(values: ["1", 1, ["first", "theirs", "mine"]]))
    let patch = FieldPatch(field: 2, old: ["first", "theirs"], new: ["first", "theirs", "mine"])
    #expect(try writer.pending(model: 0, key).map(\.content) == [.update([patch])])
  }

  @Test func `a full sync removes the rows that no page had, and keeps what a later change has brought`() throws {
    let writer = try ClientWriter(path: "/store", on: MemoryFiles(), shapes: [Self.shape], syncs: true)
    func change(_ number: Int, _ position: Int64) -> RemoteChange {
      let record = Self.records[number]
      return RemoteChange(
        model: 0, key: RecordKey(values: [record[0]]),
        image: ServerImage(record: record, version: position, position: position))
    }
    _ = try writer.transaction { try $0.receive([change(0, 3), change(1, 4)]) }
    _ = try writer.transaction { transaction in
      try transaction.beginFullSync(model: 0)
      // Nothing is newer in the page, and the row stays all the same.
      try transaction.receivePage([change(0, 3)])
      try transaction.receive([change(2, 20)])
      try transaction.sweep(model: 0, before: 10)
    }
    func ids() throws -> [String] {
      let query = WindowQuery(model: 0, predicate: .all, order: RowOrder([], primaryKey: [0]))
      return try writer.rows(query, .page(offset: 0, count: nil)).rows.compactMap { $0.record[0].string }
    }
    #expect(try ids() == ["1", "3"])
    // A page that was read earlier does not bring the removed row back.
    _ = try writer.transaction { try $0.receive([change(1, 9)]) }
    #expect(try ids() == ["1", "3"])
    // Without positions every row that no page had is removed, and a newer version brings it back.
    _ = try writer.transaction { transaction in
      try transaction.beginFullSync(model: 0)
      try transaction.receivePage([change(2, 20)])
      try transaction.sweep(model: 0, before: .max)
    }
    #expect(try ids() == ["3"])
    _ = try writer.transaction { try $0.receive([change(0, 5)]) }
    #expect(try ids() == ["1", "3"])
  }

  @Test func `a change of some fields is made on the image before it`() throws {
    let writer = try ClientWriter(path: "/store", on: MemoryFiles(), shapes: [Self.shape], syncs: true)
    let key = RecordKey(values: ["1"])
    let whole = ServerImage(record: Self.records[0], version: 1, position: 1)
    let part = ServerImage(record: Record(values: []), version: 2, position: 2)
    _ = try writer.transaction { transaction in
      try transaction.receive([
        RemoteChange(model: 0, key: key, image: part, changed: [2: "early"]),
        RemoteChange(model: 0, key: key, image: whole),
        RemoteChange(model: 0, key: key, image: part, changed: [2: "new"]),
      ])
    }
    let row = try writer.row(model: 0, key)
    #expect(row?.record == Record(values: ["1", 1, "new"]))
    #expect(row?.version == 2)
  }
}
