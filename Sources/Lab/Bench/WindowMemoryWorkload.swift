import Foundation
import MartletDataStore
import MartletJSON
import MartletLiveQueries
import MartletModels

/// What a thousand live queries of fifty rows hold beside their rows: bytes that the allocator has handed out, with a
/// thousand queries against one.
enum WindowMemoryWorkload {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private typealias Snapshots = MartletAsyncThrowingSequence<DataStoreQuerySnapshot<BenchReading>>

  private static let limit = 50

  static func run(rows: Int, queries: Int) async throws {
    let store = try DataStore(models: [BenchReading.self], storage: .inMemory)
    for first in stride(from: 0, to: rows, by: 1_000) {
      try await store.transaction { transaction in
        for number in first..<min(first + 1_000, rows) { try transaction.save(LiveWorkload.reading(number)) }
      }
    }
    let keys = BenchReading.keys
    let step = max(1, (rows - 1_000) / (queries + 1))
    // Of rows of its own each, all of one row, and of no row.
    let apart = try await measure(store, queries, shows: limit) { keys.number >= $0 * step }
    let same = try await measure(store, queries, shows: limit) { _ in keys.number >= 0 }
    let empty = try await measure(store, queries, shows: 0) { keys.number < -$0 }
    let row = rowBytes()
    let item = itemBytes()
    var figure = BenchFigure("windows")
    figure.add("rows", rows)
    figure.add("queries", queries)
    figure.add("limit", limit)
    figure.add("kept_rows", apart.kept)
    figure.add("row_bytes", row)
    figure.add("item_bytes", item)
    figure.add("query_bytes", apart.bytes)
    figure.add("beyond_rows_bytes", apart.bytes - row * apart.kept - item * limit)
    figure.add("same_query_bytes", same.bytes)
    figure.add("empty_query_bytes", empty.bytes)
    figure.add("query_resident_bytes", apart.resident)
    figure.print()
  }

  private static func measure(
    _ store: DataStore, _ queries: Int, shows count: Int, _ predicate: (Int) -> QueryPredicate
  ) async throws -> (bytes: Int, resident: Int, kept: Int) {
    var held: [(Snapshots, DataStoreItems<BenchReading>)] = []
    held.reserveCapacity(queries + 1)
    // What the first queries of all bring about belongs to none of them.
    for number in 0..<10 { held.append(try await open(store, predicate(number), count)) }
    for (stream, _) in held { stream.cancel() }
    held.removeAll(keepingCapacity: true)
    held.append(try await open(store, predicate(0), count))
    let (bytes, resident) = (allocated(), Self.resident())
    for number in 1...queries { held.append(try await open(store, predicate(number), count)) }
    let after = (allocated() - bytes) / queries
    let figures = try await store.liveQueries()
    let kept = figures.last?.rowsKept
    guard let kept, figures.count == queries + 1, held.allSatisfy({ $0.1.count == count }) else {
      throw Failure(description: "a live query does not show its rows")
    }
    let grown = (Self.resident() - resident) / queries
    for (stream, _) in held { stream.cancel() }
    return (after, grown, kept)
  }

  /// A live query with the items of its first snapshot, which its consumer keeps.
  private static func open(
    _ store: DataStore, _ predicate: QueryPredicate, _ count: Int
  ) async throws -> (Snapshots, DataStoreItems<BenchReading>) {
    let stream = store.observeQuery(
      for: BenchReading.self, where: predicate, sort: .ascending(BenchReading.keys.number),
      paginate: .page(0, limit: UInt(limit)))
    var iterator = stream.makeAsyncIterator()
    guard let snapshot = try await iterator.next() else { throw Failure(description: "a live query has ended") }
    return (stream, snapshot.items)
  }

  // MARK: Rows alone

  private static let sample = 10_000

  /// What one of the sample has, to the nearest byte.
  private static func each(_ bytes: Int) -> Int { (bytes + sample / 2) / sample }

  /// Bytes of one row as windows keep it, without the window.
  private static func rowBytes() -> Int {
    var rows: [LiveRow] = []
    rows.reserveCapacity(sample)
    let before = allocated()
    for number in 0..<sample {
      let reading = LiveWorkload.reading(number)
      let id = JSONValue.string(reading.id)
      // A literal is not on the heap, and what is read from a file is.
      let text = String(decoding: Array(reading.text.utf8), as: UTF8.self)
      let values: [JSONValue] = [id, .string(reading.topic), .int(Int64(number)), .string(text)]
      rows.append(LiveRow(key: RecordKey(id), record: Record(values: values)))
    }
    let bytes = each(allocated() - before)
    return rows.count == sample ? bytes : 0
  }

  private final class Item {
    let model: BenchReading
    let isPending = false
    init(_ model: BenchReading) { self.model = model }
  }

  /// Bytes of the struct of a row that is there: its texts are the row's.
  private static func itemBytes() -> Int {
    var items: [Item] = []
    items.reserveCapacity(sample)
    let reading = LiveWorkload.reading(0)
    let before = allocated()
    for _ in 0..<sample { items.append(Item(reading)) }
    let bytes = each(allocated() - before)
    return items.count == sample ? bytes : 0
  }

  // MARK: Memory

  /// Bytes that the allocator has handed out, its own at each piece included: what it has from the system without what
  /// is free. Zero where the C library does not say.
  private static func allocated() -> Int {
    typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>?) -> Int32
    var text: UnsafeMutablePointer<CChar>?
    var size = 0
    guard let symbol = unsafe dlsym(nil, "malloc_info"), let stream = unsafe open_memstream(&text, &size) else {
      return 0
    }
    // glibc declares it so; its header is not part of the module.
    _ = unsafe unsafeBitCast(symbol, to: Report.self)(0, stream)
    unsafe fclose(stream)
    defer { unsafe free(text) }
    guard let text = unsafe text else { return 0 }
    // The totals come last, after those of each arena.
    let lines = unsafe String(cString: text).split(separator: "\n")
    func total(_ start: String) -> Int {
      guard let line = lines.last(where: { $0.hasPrefix(start) }),
        let number = line.components(separatedBy: "size=\"").last?.prefix(while: \.isNumber)
      else { return 0 }
      return Int(number) ?? 0
    }
    let free = total("<total type=\"fast\"") + total("<total type=\"rest\"")
    return total("<system type=\"current\"") + total("<total type=\"mmap\"") - free
  }

  private static func resident() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    let fields = text.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4_096 : 0
  }
}
