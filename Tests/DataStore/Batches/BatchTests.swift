import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSQLite
import MartletSimulation
import MartletStore
import MartletSyncEngine
import Testing

/// A transaction writes new records several by one statement, and leaves what as many transactions of one step leave.
@Suite struct BatchTests {
  private typealias Step = (ClientTransaction) throws -> Void

  private static func shape(_ model: Int, _ name: String) -> RecordShape {
    RecordShape(
      model: model, name: name, tableName: name,
      columns: [("id", ColumnStorage.text), ("text", .text), ("number", .real)].map {
        RecordColumn(
          name: $0, field: $0, storage: $1, signature: $1.rawValue, isRequired: false, defaultValue: .null)
      }, key: [0], indexes: [RecordIndex(name: "byText", fields: [1, 2], isUnique: false)], cascades: [])
  }

  private static func writer(_ files: MemoryFiles, syncs: Bool) throws -> ClientWriter {
    try ClientWriter(path: "/store", on: files, shapes: [shape(0, "One"), shape(1, "Two")], syncs: syncs)
  }

  private static func key(_ id: Int) -> RecordKey { RecordKey(values: [.string("k\(id)")]) }

  private static func all(_ model: Int) -> WindowQuery {
    WindowQuery(model: model, order: RowOrder([], primaryKey: [0]))
  }

  private static func records(_ writer: ClientWriter, _ model: Int) throws -> [RecordKey: Record] {
    let rows = try writer.rows(all(model), .page(offset: 0, count: nil)).rows
    return Dictionary(rows.map { ($0.key, $0.record) }) { first, _ in first }
  }

  /// Random steps, each tried on `writer` in a transaction of its own before the next is made.
  private struct Steps {
    var random: RandomPredicates
    let syncs: Bool
    private var position: Int64 = 0

    init(seed: UInt64, syncs: Bool) {
      random = RandomPredicates(kinds: [.text, .real], seed: seed)
      self.syncs = syncs
    }

    mutating func next(_ writer: ClientWriter) throws -> Step {
      let (model, id) = (random.chance(3) ? 1 : 0, random.count(below: 90))
      let key = BatchTests.key(id)
      let record = Record(values: key.values + random.record().values)
      position += 1
      let image = ServerImage(record: random.chance(4) ? nil : record, version: position, position: position)
      let change = RemoteChange(model: model, key: key, image: image)
      let pending = try writer.pending(model: model, key)
      switch random.count(below: syncs ? 12 : 8) {
      case 0...4: return { try $0.save(model: model, record) }
      case 5: return { _ = try $0.delete(model: model, key) }
      case 6:
        // A refused save in between, which the transaction survives.
        return { transaction throws in
          #expect(throws: StoreError.self) { try transaction.save(model: model, record, where: Predicate.none) }
        }
      case 7:
        let query = BatchTests.all(model)
        let rows = try writer.rows(query, .page(offset: 0, count: nil)).rows
        let row = try writer.row(model: model, key)
        return { transaction throws in
          #expect(try transaction.rows(query, .page(offset: 0, count: nil)).rows.map(\.record) == rows.map(\.record))
          #expect(try transaction.row(model: model, key)?.record == row?.record)
        }
      case 8: return { try $0.receive([change]) }
      case 9: return { try $0.receivePage([change]) }
      case 10:
        guard let first = pending.first, !first.isSent else { return { _ in } }
        return { _ = try $0.send(model: model, key, first.number) }
      case _:
        guard let first = pending.first else { return { _ in } }
        if random.chance(2) { return { try $0.reject(model: model, key, first.number, .unauthorized) } }
        return { try $0.acknowledge(model: model, key, first.number, image) }
      }
    }
  }

  @Test(arguments: UInt64(1)...6, [true, false])
  func `a transaction of many steps leaves what as many transactions leave`(seed: UInt64, syncs: Bool) throws {
    let single = try Self.writer(MemoryFiles(), syncs: syncs)
    var files = MemoryFiles()
    var batch = try Self.writer(files, syncs: syncs)
    var steps = Steps(seed: seed, syncs: syncs)
    for round in 0..<8 {
      var shown: [[RecordKey: Record]] = try (0..<2).map { try Self.records(batch, $0) }
      var list: [Step] = []
      for _ in 0..<(round.isMultiple(of: 2) ? 80 : 12) {
        let step = try steps.next(single)
        _ = try single.transaction(step)
        list.append(step)
      }
      let commit = try batch.transaction { transaction in for step in list { try step(transaction) } }
      for change in commit.changes {
        guard let key = (change.before ?? change.after)?.key else { continue }
        #expect(shown[change.model][key] == change.before?.record)
        shown[change.model][key] = change.after?.record
      }
      for model in 0..<2 {
        #expect(try Self.records(batch, model) == shown[model])
        #expect(
          try Array(batch.rows(Self.all(model), .page(offset: 0, count: nil)).rows)
            == Array(single.rows(Self.all(model), .page(offset: 0, count: nil)).rows))
        for id in 0..<90 {
          #expect(try batch.pending(model: model, Self.key(id)) == single.pending(model: model, Self.key(id)))
          #expect(try batch.image(model: model, Self.key(id)) == single.image(model: model, Self.key(id)))
        }
      }
      #expect(try batch.outbox().map(\.number) == single.outbox().map(\.number))
      // What is there is in the file.
      files = MemoryFiles(files.contents)
      batch = try Self.writer(files, syncs: syncs)
    }
  }

  @Test func `a record that was deleted here, or by the server, is not taken for a new one`() throws {
    let writer = try Self.writer(MemoryFiles(), syncs: true)
    let record = Record(values: [.string("k1"), .string("a"), .double(1)])
    _ = try writer.transaction { try $0.save(model: 0, record) }
    _ = try writer.transaction { _ = try $0.send(model: 0, Self.key(1), 1) }
    _ = try writer.transaction { _ = try $0.delete(model: 0, Self.key(1)) }
    // The creation has been sent, so that the deletion waits behind it, without a row and without an image.
    let commit = try writer.transaction { try $0.save(model: 0, record) }
    #expect(commit.outbox == [.added(number: 3, model: 0)])
    #expect(try writer.pending(model: 0, Self.key(1)).map(\.number) == [1, 2, 3])
    let removal = ServerImage(record: nil, version: 2, position: 9)
    let other = RemoteChange(model: 1, key: Self.key(2), image: removal)
    _ = try writer.transaction { try $0.receive([other]) }
    let late = ServerImage(record: record, version: 1, position: 5)
    let received = try writer.transaction { try $0.receive([RemoteChange(model: 1, key: Self.key(2), image: late)]) }
    #expect(received.changes.isEmpty)
  }

  @Test func `a first full sync keeps what was written meanwhile, and a later one removes what no page had`() throws {
    let writer = try Self.writer(MemoryFiles(), syncs: true)
    func record(_ id: Int) -> Record { Record(values: Self.key(id).values + [.string("a"), .double(1)]) }
    func change(_ id: Int, _ position: Int64) -> RemoteChange {
      RemoteChange(
        model: 0, key: Self.key(id), image: ServerImage(record: record(id), version: 1, position: position))
    }
    func keys() throws -> [RecordKey] { try writer.rows(Self.all(0), .page(offset: 0, count: nil)).rows.map(\.key) }
    _ = try writer.transaction { try $0.beginFullSync(model: 0) }
    _ = try writer.transaction { try $0.receivePage([change(1, 5)]) }
    _ = try writer.transaction { try $0.save(model: 0, record(2)) }
    _ = try writer.transaction { transaction in
      try transaction.acknowledge(model: 0, Self.key(2), 1, ServerImage(record: record(2), version: 1, position: 7))
    }
    _ = try writer.transaction { try $0.receivePage([change(3, 5)]) }
    _ = try writer.transaction { try $0.sweep(model: 0, before: 5) }
    #expect(try keys() == [Self.key(1), Self.key(2), Self.key(3)])
    _ = try writer.transaction { try $0.beginFullSync(model: 0) }
    _ = try writer.transaction { try $0.receivePage([change(1, 20)]) }
    let commit = try writer.transaction { try $0.sweep(model: 0, before: 20) }
    #expect(commit.changes.count == 2 && commit.changes.allSatisfy { $0.after == nil })
    #expect(try keys() == [Self.key(1)])
  }
}
