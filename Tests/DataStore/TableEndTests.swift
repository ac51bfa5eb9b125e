import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSQLite
import MartletStore
import MartletSyncEngine
import MartletVocabulary
import Testing

/// Records that come after all others of their table are not searched for, and nothing else is taken for new.
@Suite struct TableEndTests {
  private static func writer(_ storages: [ColumnStorage], key: [Int]) throws -> ClientWriter {
    let columns = storages.enumerated().map { place, storage in
      RecordColumn(
        name: "f\(place)", field: "f\(place)", storage: storage, signature: storage.rawValue, isRequired: false,
        defaultValue: .null)
    }
    let shape = RecordShape(
      model: 0, name: "Thing", tableName: "Thing", columns: columns, key: key, indexes: [], cascades: [])
    return try ClientWriter(path: "/store", on: MemoryFiles(), shapes: [shape], syncs: true)
  }

  private static func change(_ values: [JSONValue], key: [Int], position: Int64) -> RemoteChange {
    let record = Record(values: values)
    return RemoteChange(
      model: 0, key: record.key(key), image: ServerImage(record: record, version: position, position: position))
  }

  @Test func `a page in the order of its keys takes a statement for 16 records, and a search for none but the first`()
    throws
  {
    let writer = try Self.writer([.text, .integer], key: [0])
    var next = Int64(0)
    func statements(forPageOf count: Int64) throws -> Int {
      let page = (next..<next + count).map { number in
        Self.change([.string("r\(number + 1_000_000)"), .int(number)], key: [0], position: number + 1)
      }
      next += count
      let before = writer.startedStatements
      _ = try writer.transaction { try $0.receivePage(page) }
      return writer.startedStatements - before
    }
    // Of a table without rows the sync notes nothing beside the records.
    _ = try writer.transaction { try $0.beginFullSync(model: 0) }
    _ = try statements(forPageOf: 80)
    #expect(try statements(forPageOf: 320) - statements(forPageOf: 160) == 10)
  }

  /// Keys that are there and keys that are not, before and beyond the end, in and out of their order.
  @Test(arguments: UInt64(1)...12)
  func `a page changes what is there and adds what is not, whatever the order of its keys`(seed: UInt64) throws {
    let kinds: [(storages: [ColumnStorage], key: [Int])] = [
      ([.text, .integer], [0]), ([.integer, .integer], [0]), ([.real, .integer], [0]),
      ([.text, .integer, .integer], [0, 1]), ([.text, .integer, .text], [2, 0]),
    ]
    let texts = ["", "Z", "a", "a\u{0}", "aa", "e\u{301}", "\u{e9}", "\u{ffff}", "\u{1f426}"]
    for (storages, key) in kinds {
      var random = SeededRandom(seed: seed)
      let writer = try Self.writer(storages, key: key)
      var expected: [RecordKey: Record] = [:]
      var position = Int64(0)
      for _ in 0..<6 {
        var page: [RemoteChange] = []
        for _ in 0..<30 {
          position += 1
          let values = storages.map { storage -> JSONValue in
            let number = Int64(random.next() % 120) - 40
            return switch storage {
            case .text: .string(texts[Int(random.next() % 9)] + "\(number / 8)")
            case .real: .double(Double(number) / 4)
            case .integer, .boolean, .json: .int(number)
            }
          }
          page.append(Self.change(values, key: key, position: position))
        }
        if random.next() % 3 > 0 {
          page.sort { left, right in
            let (a, b) = (left.key[0], right.key[0])
            return (ValueOrder.compare(a, b) ?? 0) < 0
          }
          // Of several changes of a record in one page the last one counts.
          for index in page.indices {
            page[index].image.version = Int64(index) + position
            page[index].image.position = Int64(index) + position
          }
          position += 30
        }
        for change in page { expected[change.key] = change.image.record }
        _ = try writer.transaction { transaction in
          // The transaction has rows of its own before the page.
          if random.next() % 2 == 0, let first = page.first?.image.record {
            try transaction.receivePage([page[0]])
            #expect(try transaction.row(model: 0, page[0].key)?.record == first)
          }
          try transaction.receivePage(page)
        }
        for (key, record) in expected { #expect(try writer.row(model: 0, key)?.record == record) }
      }
    }
  }
}
