import MartletDataStore

/// A record of the live queries' benchmark.
struct BenchReading: StoredModel {
  var id: String
  var topic: String
  var number: Int
  var text: String
  enum CodingKeys: String, ModelKey { case id, topic, number, text }
  static var indexes: [StoredIndex] {
    [StoredIndex("byNumber", fields: "number"), StoredIndex("byTopic", fields: "topic", "number")]
  }
}

/// As `martlet generate` writes it.
extension BenchReading: RowDecodable {
  init(from row: inout ModelRow) throws {
    let id: String = try row.next()
    let topic: String = try row.next()
    let number: Int = try row.next()
    let text: String = try row.next()
    self.init(id: id, topic: topic, number: number, text: text)
  }
}

/// What live queries add to a commit, against commits of an equal store without any: processor time until the last
/// query has its snapshot.
enum LiveWorkload {
  fileprivate typealias Snapshots = MartletAsyncThrowingSequence<DataStoreQuerySnapshot<BenchReading>>

  /// What commits cost in one round, in microseconds: without queries, and with these beyond that.
  private struct Round {
    var bare = 0.0
    var one = 0.0
    var hundred = 0.0
    var oneOfHundred = 0.0
    var table = 0.0
  }

  /// Rounds of which the medians count. In each, every store makes its part of the commits before the next one does:
  /// the processor's clock changes within a second, and by more than a query costs.
  private static let rounds = 120

  static func run(rows: Int, commits: Int) async throws {
    let keys = BenchReading.keys
    func window(_ store: DataStore, _ predicate: QueryPredicate) -> Snapshots {
      store.observeQuery(
        for: BenchReading.self, where: predicate, sort: .ascending(keys.number), paginate: .page(0, limit: 100))
    }
    let all = keys.number >= 0
    let bare = try await LiveStore(rows) { _ in [] }
    let one = try await LiveStore(rows) { [window($0, all)] }
    // Of a hundred topics the changed record has one.
    let oneOfHundred = try await LiveStore(rows, awaited: 7) { store in
      (0..<100).map { window(store, keys.topic == "t\($0)") }
    }
    let hundred = try await LiveStore(rows) { store in (0..<100).map { _ in window(store, all) } }
    let table = try await LiveStore(rows) { store in
      [store.observeQuery(for: BenchReading.self, where: all, sort: .ascending(keys.number))]
    }
    // Until what opening the queries has left in caches and allocator is over.
    for store in [bare, one, oneOfHundred, hundred, table] { _ = try await store.commit(commits / 2) }
    var found: [Round] = []
    let part = max(4, commits * 6 / rounds)
    for _ in 0..<rounds {
      var round = Round()
      round.bare = try await bare.commit(part)
      round.one = try await one.commit(part) - round.bare
      round.oneOfHundred = try await oneOfHundred.commit(part) - round.bare
      round.hundred = try await hundred.commit(part / 4) - round.bare
      round.table = try await table.commit(part) - round.bare
      found.append(round)
    }
    func median(_ value: (Round) -> Double) -> Double { found.map(value).sorted()[found.count / 2] }
    var figure = BenchFigure("live")
    figure.add("rows", rows)
    figure.add("commits", commits)
    figure.add("bare_us", median(\.bare))
    figure.add("one_us", median(\.one))
    figure.add("hundred_us", median(\.hundred))
    figure.add("one_of_hundred_us", median(\.oneOfHundred))
    figure.add("whole_table_us", median(\.table))
    figure.add("one_of_hundred_to_one", median(\.oneOfHundred) / median(\.one))
    figure.add("whole_table_to_one", median(\.table) / median(\.one))
    figure.print()
  }

  static func reading(_ number: Int, _ text: String = "some text for the size of it") -> BenchReading {
    BenchReading(id: "r\(number)", topic: "t\(number % 100)", number: number, text: text)
  }
}

/// A store with live queries, whose snapshots are awaited after each commit.
private final class LiveStore {
  private let store: DataStore
  private var iterators: [LiveWorkload.Snapshots.AsyncIterator]
  private let waiting: [Int]
  private var number = 0

  /// - Parameter awaited: the query that gets snapshots; nil for all.
  init(_ rows: Int, awaited: Int? = nil, _ queries: (DataStore) -> [LiveWorkload.Snapshots]) async throws {
    let store = try DataStore(models: [BenchReading.self], storage: .inMemory)
    for first in stride(from: 0, to: rows, by: 1_000) {
      try await store.transaction { transaction in
        for number in first..<min(first + 1_000, rows) { try transaction.save(LiveWorkload.reading(number)) }
      }
    }
    iterators = queries(store).map { $0.makeAsyncIterator() }
    for index in iterators.indices { _ = try await iterators[index].next() }
    waiting = awaited.map { [$0] } ?? Array(iterators.indices)
    self.store = store
  }

  /// Microseconds of processor time for a commit of one changed record, with its snapshots.
  func commit(_ count: Int) async throws -> Double {
    let start = CPUTime.now()
    for _ in 0..<count {
      number += 1
      // Record 7 is in every window: of all records, and of its topic.
      try await store.save(LiveWorkload.reading(7, "text \(number)"))
      for index in waiting { _ = try await iterators[index].next() }
    }
    return Double((CPUTime.now() - start).processor) / Double(count) / 1_000
  }
}
