import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSQLite
import MartletSimulation
import MartletStore
import MartletSyncEngine
import Testing

@Suite struct ClientWriterTests {
  private static func column(_ name: String, _ storage: ColumnStorage) -> RecordColumn {
    RecordColumn(
      name: name, field: name, storage: storage, signature: storage.rawValue, isRequired: false, defaultValue: .null)
  }

  private static func shape(_ storages: [ColumnStorage], key: [Int]) -> RecordShape {
    let columns = storages.enumerated().map { column("f\($0)", $1) }
    return RecordShape(
      model: 0, name: "Thing", tableName: "Thing", columns: columns, key: key, indexes: [], cascades: [])
  }

  private static let notes = shape([.text, .text, .integer], key: [0])
  private static func key(_ id: String) -> RecordKey { RecordKey(values: [.string(id)]) }
  private static func note(_ id: String, _ text: String, _ number: Int64) -> Record {
    Record(values: [.string(id), .string(text), .int(number)])
  }

  private static func writer(_ files: MemoryFiles, _ shape: RecordShape = notes) throws -> ClientWriter {
    try ClientWriter(path: "/store", on: files, shapes: [shape], syncs: true)
  }

  @Test func `a store that is never closed does not let its write-ahead log grow`() throws {
    let files = MemoryFiles()
    let shape = Self.shape([.text, .text], key: [0])
    let writer = try ClientWriter(path: "/store", on: files, shapes: [shape], syncs: false)
    for number in 0..<300 {
      let record = Record(values: [.string("\(number % 10)"), .string(String(repeating: "x", count: 20_000 + number))])
      _ = try writer.transaction { try $0.save(model: 0, record) }
    }
    // The bound is 4 MiB; the transaction that reaches it is written whole. Without it these are 8 MiB.
    #expect(try #require(files.contents(of: "/store-wal")).count < 5 << 20)
  }

  /// Defects 1 to 5 are differences between SQL and memory: negation, lone and NULL comparisons, composed groups.
  @Test(arguments: UInt64(1)...4)
  func `defects 1 to 5: random predicates, orders and pages mean the same in SQL and in memory`(seed: UInt64) throws {
    var shape = Self.shape([.text, .integer, .real, .boolean, .json, .text, .integer], key: [6])
    shape.columns[5].isMoment = true
    shape.indexes = [RecordIndex(name: "byMoment", fields: [5], isUnique: false)]
    let writer = try ClientWriter(path: "/store", on: MemoryFiles(), shapes: [shape], syncs: false)
    var random = RandomPredicates(seed: seed)
    var all: [Record] = []
    for number in Int64(0)..<60 { all.append(Record(values: random.record().values + [.int(number)])) }
    _ = try writer.transaction { for record in all { try $0.save(model: 0, record) } }
    for _ in 0..<50 {
      let terms = (0..<random.count(below: 3)).map { _ in
        SortOrder(field: random.count(below: 6), isAscending: random.chance(2))
      }
      let order = RowOrder(terms, primaryKey: [6], momentFields: [5])
      let query = WindowQuery(model: 0, predicate: random.predicate(depth: 2), order: order)
      let selected = all.filter { NaiveEvaluator.matches(query.predicate, $0) }
        .sorted { order.compare($0, $1) < 0 }
      func keys(_ records: some Sequence<Record>) -> [JSONValue] { records.map { $0[6] } }
      func read(_ request: WindowRequest) throws -> [JSONValue] {
        keys(try writer.rows(query, request).rows.map(\.record))
      }
      #expect(try read(.page(offset: 0, count: nil)) == keys(selected), "\(query)")
      let (offset, count) = (random.count(below: 12), random.count(below: 9))
      #expect(try read(.page(offset: offset, count: count)) == keys(selected.dropFirst(offset).prefix(count)))
      #expect(try writer.rows(query, .page(offset: 90, count: 1)).skipped == selected.count)
      let bound = LiveRow(key: RecordKey(values: []), record: all[random.count(below: 60)])
      let after = selected.filter { order.compare($0, bound.record) > 0 }
      let before = selected.filter { order.compare($0, bound.record) < 0 }
      #expect(try read(.after(bound, count: 5)) == keys(after.prefix(5)), "\(query)")
      #expect(try read(.before(bound, count: 5)) == keys(before.suffix(5)), "\(query)")
    }
  }

  @Test(arguments: [true, false])
  func `a whole table by a whole number has the order of the query, nulls and equal numbers included`(
    isAscending: Bool
  ) throws {
    let shape = Self.shape([.text, .integer], key: [0])
    let writer = try ClientWriter(path: "/store", on: MemoryFiles(), shapes: [shape], syncs: false)
    var random = RandomPredicates(seed: 9)
    let order = RowOrder([SortOrder(field: 1, isAscending: isAscending)], primaryKey: [0])
    let query = WindowQuery(model: 0, predicate: .all, order: order)
    for size in [0, 1, 47, 48, 49, 500] {
      var all: [Record] = []
      for number in 0..<size {
        let value: JSONValue = random.chance(9) ? .null : random.value(.whole)
        all.append(Record(values: [.string("\(number)"), value]))
      }
      _ = try writer.transaction { for record in all { try $0.save(model: 0, record) } }
      var visited = 0
      let rows = try writer.rows(query, .page(offset: 0, count: nil)) { visited += $0.count }.rows
      #expect(rows.map(\.record) == all.sorted { order.compare($0, $1) < 0 } && visited == size)
    }
  }

  @Test func `defect 6: a save and its entry in the outbox are one transaction`() throws {
    let files = MemoryFiles()
    let writer = try Self.writer(files)
    struct Stop: Error {}
    #expect(throws: StoreError.self) {
      _ = try writer.transaction { transaction in
        try transaction.save(model: 0, Self.note("a", "x", 1))
        throw Stop()
      }
    }
    #expect(try writer.row(model: 0, Self.key("a")) == nil)
    #expect(try writer.outbox().isEmpty)
    let commit = try writer.transaction { try $0.save(model: 0, Self.note("a", "x", 1)) }
    #expect(commit.outbox == [.added(number: 1, model: 0)])
    #expect(commit.changes.map(\.after?.isPending) == [true])
    // Another process, or the same one after a crash, has both.
    let copy = try Self.writer(MemoryFiles(files.contents))
    #expect(try copy.row(model: 0, Self.key("a"))?.record == Self.note("a", "x", 1))
    #expect(try copy.outbox().map(\.number) == [1])
    #expect(try copy.pending(model: 0, Self.key("a")).map(\.content) == [.create(Self.note("a", "x", 1))])
  }

  /// A write that is made again after a conflict has a number above those that wait behind it.
  @Test func `a write that the server may have goes behind one that it cannot have once the store starts again`() throws
  {
    let files = MemoryFiles()
    let writer = try Self.writer(files)
    _ = try writer.transaction { try $0.save(model: 0, Self.note("a", "x", 1)) }
    _ = try writer.transaction { try $0.save(model: 0, Self.note("b", "x", 1)) }
    let theirs = ServerImage(record: Self.note("a", "theirs", 1), version: 1, position: 10)
    _ = try writer.transaction { transaction in
      let renumbered = try transaction.resolve(model: 0, Self.key("a"), 1, .retryLocal, theirs)
      #expect(renumbered.map(\.new) == [3])
      _ = try transaction.send(model: 0, Self.key("a"), 3)
    }
    let copy = try Self.writer(MemoryFiles(files.contents))
    #expect(try copy.outbox().map(\.number) == [3, 2])
    #expect(try copy.firstPending() == 2)
  }

  @Test func `the row shows local writes over the server's image, and the server's image once they are rejected`()
    throws
  {
    let writer = try Self.writer(MemoryFiles())
    let image = ServerImage(record: Self.note("a", "server", 1), version: 3, position: 10)
    _ = try writer.transaction { try $0.receive([RemoteChange(model: 0, key: Self.key("a"), image: image)]) }
    let row = try writer.row(model: 0, Self.key("a"))
    #expect(row?.version == 3 && row?.isPending == false)
    _ = try writer.transaction { try $0.save(model: 0, Self.note("a", "local", 1)) }
    let newer = ServerImage(record: Self.note("a", "server", 7), version: 4, position: 11)
    _ = try writer.transaction { try $0.receive([RemoteChange(model: 0, key: Self.key("a"), image: newer)]) }
    #expect(try writer.row(model: 0, Self.key("a"))?.record == Self.note("a", "local", 7))
    let commit = try writer.transaction { try $0.reject(model: 0, Self.key("a"), 1, .unauthorized) }
    #expect(commit.letters.map(\.reason) == [.unauthorized])
    let last = try writer.row(model: 0, Self.key("a"))
    #expect(last?.record == newer.record && last?.isPending == false)
    #expect(try writer.outbox().isEmpty)
  }

  @Test func `a page older than a removal does not bring the record back, after a restart too`() throws {
    let files = MemoryFiles()
    let writer = try Self.writer(files)
    let key = Self.key("a")
    func change(_ record: Record?, _ position: Int64) -> [RemoteChange] {
      [RemoteChange(model: 0, key: key, image: ServerImage(record: record, version: position, position: position))]
    }
    _ = try writer.transaction { try $0.receive(change(Self.note("a", "x", 1), 5)) }
    _ = try writer.transaction { try $0.receive(change(nil, 9)) }
    let copy = try Self.writer(MemoryFiles(files.contents))
    let commit = try copy.transaction { try $0.receive(change(Self.note("a", "x", 1), 7)) }
    #expect(commit.changes.isEmpty)
    #expect(try copy.row(model: 0, key) == nil)
  }

  @Test func `defect 9: a row of the server is stored whatever it refers to or lacks`() throws {
    let writer = try Self.writer(MemoryFiles())
    let record = Record(values: [.string("child"), .null, .null])
    let image = ServerImage(record: record, version: 1, position: 1)
    let commit = try writer.transaction {
      try $0.receive([RemoteChange(model: 0, key: Self.key("child"), image: image)])
    }
    #expect(commit.changes.map(\.after?.record) == [record])
  }

  @Test func `rows of the server are stored with a value that no two records should share; a local write is not`()
    throws
  {
    var shape = Self.notes
    shape.indexes = [RecordIndex(name: "#one", fields: [1], isUnique: true)]
    let writer = try Self.writer(MemoryFiles(), shape)
    let changes = ["a", "b"].map { id in
      RemoteChange(
        model: 0, key: Self.key(id),
        image: ServerImage(record: Self.note(id, "same", 1), version: 1, position: id == "a" ? 1 : 2))
    }
    let commit = try writer.transaction { try $0.receive(changes) }
    #expect(commit.changes.count == 2)
    #expect(throws: (any Error).self) { try writer.transaction { try $0.save(model: 0, Self.note("c", "same", 1)) } }
    #expect(try writer.row(model: 0, Self.key("c")) == nil)
  }

  @Test func `a migration keeps rows and outbox`() throws {
    let files = MemoryFiles()
    _ = try Self.writer(files).transaction { try $0.save(model: 0, Self.note("a", "x", 1)) }
    var wider = Self.notes
    wider.columns.insert(Self.column("added", .text), at: 1)
    let writer = try Self.writer(files, wider)
    let expected = Record(values: [.string("a"), .null, .string("x"), .int(1)])
    #expect(try writer.row(model: 0, Self.key("a"))?.record == expected)
    #expect(try writer.pending(model: 0, Self.key("a")).map(\.content) == [.create(expected)])
  }

  @Test func `an index over dates from before they were compared by their moments is made anew, and finds them`()
    throws
  {
    let files = MemoryFiles()
    var shape = Self.notes
    shape.indexes = [RecordIndex(name: "byText", fields: [1], isUnique: false)]
    _ = try Self.writer(files, shape).transaction { transaction in
      try transaction.save(model: 0, Self.note("a", "2026-11-22T12:00+02:00", 1))
      try transaction.save(model: 0, Self.note("b", "2026-11-22T11:00Z", 2))
    }
    shape.columns[1].isMoment = true
    let order = RowOrder([SortOrder(field: 1)], primaryKey: [0], momentFields: [1])
    let earlier = Predicate.compare(field: 1, .moment(.le("2026-11-22T10:00:00.000Z")))
    for _ in 0..<2 {
      let writer = try Self.writer(files, shape)
      #expect(try writer.outbox().count == 2)
      let all = WindowQuery(model: 0, predicate: .all, order: order)
      #expect(try writer.rows(all, .page(offset: 0, count: nil)).rows.map { $0.record[0] } == ["a", "b"])
      let some = WindowQuery(model: 0, predicate: earlier, order: order)
      #expect(try writer.rows(some, .page(offset: 0, count: nil)).rows.map { $0.record[0] } == ["a"])
      for query in [all, some] {
        let plan = try writer.plan(query).joined(separator: "\n")
        #expect(plan.contains("index_Thing_byText") && !plan.contains("TEMP"), "\(plan)")
      }
    }
  }

  @Test func `P2: rows that get a field are owed a full sync, which fills it though nothing was written since`() throws
  {
    let files = MemoryFiles()
    let image = ServerImage(record: Self.note("a", "x", 1), version: 3, position: 10)
    _ = try Self.writer(files).transaction { transaction in
      try transaction.receive([RemoteChange(model: 0, key: Self.key("a"), image: image)])
      try transaction.set(ClientWriter.progressName(Self.notes), "[5,6,[]]")
    }
    #expect(try Self.writer(files).value(ClientWriter.progressName(Self.notes)) != nil)
    var wider = Self.notes
    wider.columns.insert(Self.column("added", .text), at: 1)
    let writer = try Self.writer(files, wider)
    #expect(try writer.value(ClientWriter.progressName(wider)) == nil)
    let whole = Record(values: [.string("a"), .string("new"), .string("x"), .int(1)])
    let same = ServerImage(record: whole, version: 3, position: 10)
    _ = try writer.transaction { try $0.receivePage([RemoteChange(model: 0, key: Self.key("a"), image: same)]) }
    #expect(try writer.row(model: 0, Self.key("a"))?.record == whole)
  }

  @Test func `a deletion and a new record of the same key are both in the outbox`() throws {
    let files = MemoryFiles()
    let writer = try Self.writer(files)
    let image = ServerImage(record: Self.note("a", "server", 1), version: 3, position: 10)
    _ = try writer.transaction { try $0.receive([RemoteChange(model: 0, key: Self.key("a"), image: image)]) }
    _ = try writer.transaction { _ = try $0.delete(model: 0, Self.key("a")) }
    _ = try writer.transaction { try $0.save(model: 0, Self.note("a", "new", 2)) }
    let copy = try Self.writer(MemoryFiles(files.contents))
    #expect(
      try copy.pending(model: 0, Self.key("a")).map(\.content) == [.delete, .create(Self.note("a", "new", 2))])
    #expect(try copy.row(model: 0, Self.key("a"))?.record == Self.note("a", "new", 2))
  }
}
