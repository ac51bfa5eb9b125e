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

/// What live queries add to a commit, against commits of the same store without any: processor time until the last
/// query has its snapshot.
enum LiveWorkload {
  private typealias Snapshots = MartletAsyncThrowingSequence<DataStoreQuerySnapshot<BenchReading>>

  /// What commits cost in one round, in microseconds: without queries, and with these beyond that.
  private struct Round {
    var bare = 0.0
    var one = 0.0
    var hundred = 0.0
    var oneOfHundred = 0.0
    var table = 0.0
  }

  /// Rounds of which the medians count: another program on the machine spoils some of them, and the processor's clock
  /// moves from one to the next. Each has its part of the commits.
  private static let rounds = 15

  static func run(rows: Int, commits: Int) async throws {
    let store = try DataStore(models: [BenchReading.self], storage: .inMemory)
    for first in stride(from: 0, to: rows, by: 1_000) {
      try await store.transaction { transaction in
        for number in first..<min(first + 1_000, rows) { try transaction.save(reading(number)) }
      }
    }
    var found: [Round] = []
    for _ in 0..<rounds { found.append(try await round(store, rows, max(1, commits * 5 / rounds))) }
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

  private static func round(_ store: DataStore, _ rows: Int, _ commits: Int) async throws -> Round {
    let keys = BenchReading.keys
    func window(_ predicate: QueryPredicate) -> Snapshots {
      store.observeQuery(
        for: BenchReading.self, where: predicate, sort: .ascending(keys.number), paginate: .page(0, limit: 100))
    }
    let all = keys.number >= 0
    var round = Round()
    round.bare = try await measure(store, [], rows, commits)
    round.one = try await measure(store, [window(all)], rows, commits) - round.bare
    // Of a hundred topics the changed record has one.
    let topics = (0..<100).map { window(keys.topic == "t\($0)") }
    round.oneOfHundred = try await measure(store, topics, rows, commits, awaited: 7) - round.bare
    round.hundred = try await measure(store, (0..<100).map { _ in window(all) }, rows, commits / 4 + 1) - round.bare
    let whole = store.observeQuery(for: BenchReading.self, where: all, sort: .ascending(keys.number))
    round.table = try await measure(store, [whole], rows, commits) - round.bare
    return round
  }

  static func reading(_ number: Int, _ text: String = "some text for the size of it") -> BenchReading {
    BenchReading(id: "r\(number)", topic: "t\(number % 100)", number: number, text: text)
  }

  /// Microseconds of processor time for a commit of one changed record, with its snapshots.
  private static func measure(
    _ store: DataStore, _ streams: [Snapshots], _ rows: Int, _ commits: Int, awaited: Int? = nil
  ) async throws -> Double {
    var iterators = streams.map { $0.makeAsyncIterator() }
    for index in iterators.indices { _ = try await iterators[index].next() }
    let waiting = awaited.map { [$0] } ?? Array(iterators.indices)
    func commit(_ number: Int) async throws {
      // Record 7 is in every window: of all records, and of its topic.
      try await store.save(reading(7, "text \(number)"))
      for index in waiting { _ = try await iterators[index].next() }
    }
    // As many before, until what opening the queries has left in caches and allocator is over.
    for number in 0..<commits { try await commit(-number - 1) }
    let start = CPUTime.now()
    for number in 0..<commits { try await commit(number) }
    let cost = Double((CPUTime.now() - start).processor) / Double(commits) / 1_000
    for stream in streams { stream.cancel() }
    return cost
  }
}
