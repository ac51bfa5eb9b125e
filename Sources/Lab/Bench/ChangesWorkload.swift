import MartletDataStore

/// A window of fifty in the middle of many rows, while changes come in groups as a feed brings them: processor time for
/// a change, the store's own included, and what the window did for it. Changes are before it, in it, after it, across
/// its edges, of all that is before it, deletions that empty it, and anywhere.
enum ChangesWorkload {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// What one place of the changes gave.
  private struct Cost {
    var microseconds = 0.0
    var snapshots = 0
    var figures: LiveQueryFigures?
  }

  private enum Place: String, CaseIterable { case before, inside, after, edges, shifts, deletions, anywhere }

  /// One change: a record with another number, or without one a deletion.
  private struct Step: Sendable {
    var id: Int
    var number: Int?
  }

  private static let page = UInt(10)
  private static let limit = 50
  /// Records before the window.
  private static let first = 500
  static func run(rows: Int, changes: Int, batch: Int) async throws {
    let store = try DataStore(models: [BenchReading.self], storage: .inMemory)
    try await fill(store, Array(0..<rows))
    var figure = BenchFigure("changes")
    figure.add("rows", rows)
    figure.add("changes", changes)
    figure.add("batch", batch)
    for place in Place.allCases {
      let bare = try await measure(store, place, rows, changes, batch, isObserved: false).microseconds
      let cost = try await measure(store, place, rows, changes, batch, isObserved: true)
      guard let figures = cost.figures else { throw Failure(description: "there is no live query") }
      let name = place.rawValue
      figure.add(name + "_us", cost.microseconds)
      figure.add(name + "_bare_us", bare)
      figure.add(name + "_per_second", Int(1_000_000 / cost.microseconds))
      figure.add(name + "_changes", figures.changes)
      figure.add(name + "_snapshots", cost.snapshots)
      figure.add(name + "_rows_touched", Double(figures.rowsTouched) / Double(figures.changes))
      figure.add(name + "_rows_read", Double(figures.rowsRead) / Double(figures.changes))
      figure.add(name + "_requests", figures.requests)
    }
    figure.print()
  }

  private static func fill(_ store: DataStore, _ numbers: [Int]) async throws {
    for first in stride(from: 0, to: numbers.count, by: 1_000) {
      try await store.transaction { transaction in
        for number in numbers[first..<min(first + 1_000, numbers.count)] {
          try transaction.save(LiveWorkload.reading(number))
        }
      }
    }
  }

  private static func measure(
    _ store: DataStore, _ place: Place, _ rows: Int, _ changes: Int, _ batch: Int, isObserved: Bool
  ) async throws -> Cost {
    let steps = steps(place, rows, changes, batch)
    let keys = BenchReading.keys
    let (predicate, sort) = (keys.number >= -1, QuerySort.ascending(keys.number))
    let page = QueryPage.page(page, limit: UInt(limit))
    let stream = store.observeQuery(for: BenchReading.self, where: predicate, sort: sort, paginate: page)
    let (begun, begins) = AsyncStream<Void>.makeStream()
    let consuming = Task {
      var consumer = Consumer()
      for try await snapshot in stream {
        consumer.take(snapshot)
        begins.yield()
        if consumer.hasLast { break }
      }
      return consumer
    }
    for await _ in begun { break }
    if !isObserved { stream.cancel() }
    var made = 0
    let start = CPUTime.now()
    for first in stride(from: 0, to: changes, by: batch) {
      let part = steps[first..<min(first + batch, changes)]
      try await store.transaction { transaction in
        for (index, step) in part.enumerated() { try carryOut(step, first + index, transaction) }
      }
      made += Set(part.map(\.id)).count
    }
    // The last change is in the window, wherever the others were, so that there is a snapshot to wait for.
    guard var last = try await store.query(BenchReading.self, where: predicate, sort: sort, paginate: page).last else {
      throw Failure(description: "there are no rows")
    }
    last.text = Consumer.last
    try await store.save(last)
    made += 1
    let consumer = try await consuming.value
    let cost = CPUTime.now() - start
    let figures = isObserved ? try await store.liveQueries().first : nil
    stream.cancel()
    if isObserved {
      let fresh = try await store.query(BenchReading.self, where: predicate, sort: sort, paginate: page)
      guard consumer.rows == fresh.map({ Row(id: $0.id, number: $0.number, text: $0.text) }),
        figures?.changes == made
      else { throw Failure(description: "changes \(place.rawValue) have not all arrived") }
    }
    // All as it was, for the next place.
    let changed = Set(steps.map(\.id)).union([Int(last.id.dropFirst()) ?? 0])
    try await fill(store, changed.sorted())
    return Cost(
      microseconds: Double(cost.processor) / Double(made) / 1_000, snapshots: consumer.snapshots, figures: figures)
  }

  private static func carryOut(_ step: Step, _ index: Int, _ transaction: DataStoreTransaction) throws {
    if let number = step.number {
      // Each text is another one, so that each save is a change.
      try transaction.save(
        BenchReading(id: "r\(step.id)", topic: "t", number: number, text: "text number \(index) of them"))
    } else {
      guard try transaction.delete(LiveWorkload.reading(step.id)) else {
        throw Failure(description: "record \(step.id) is deleted twice")
      }
    }
  }

  /// What the consumer has: it carries out the change sets on rows of its own, and so notices one that is missing.
  private struct Row: Equatable {
    var id: String
    var number: Int
    var text: String
  }

  private struct Consumer {
    var rows: [Row] = []

    var snapshots = 0

    /// The text of the last change.
    static let last = "the last one"
    var hasLast: Bool { rows.last?.text == Self.last }

    mutating func take(_ snapshot: DataStoreQuerySnapshot<BenchReading>) {
      snapshots += 1
      func row(_ index: Int) -> Row {
        let item = snapshot.items[index]
        return Row(id: item.id, number: item.number, text: item.text)
      }
      let changes = snapshot.changes
      for index in (changes.deletions + changes.moves.map(\.from)).sorted(by: >) { rows.remove(at: index) }
      for index in (changes.insertions + changes.moves.map(\.to)).sorted() { rows.insert(row(index), at: index) }
      for index in changes.updates { rows[index] = row(index) }
    }
  }

  // MARK: Changes

  /// The changes of one place. Within a group each record changes once: a commit is one change of each.
  private static func steps(_ place: Place, _ rows: Int, _ changes: Int, _ batch: Int) -> [Step] {
    var steps: [Step] = []
    steps.reserveCapacity(changes)
    var chance = Chance()
    let behind = first + 1_000
    for index in 0..<changes {
      switch place {
      case .before: steps.append(Step(id: index * 7 % 400, number: chance.next(400)))
      case .inside:
        let id = first + 5 + index % (limit - 10)
        steps.append(Step(id: id, number: id))
      case .after: steps.append(Step(id: behind + chance.next(rows - behind), number: behind + chance.next(rows)))
      case .edges: steps.append(Step(id: first - 20 + index * 7 % 90, number: first - 20 + chance.next(90)))
      case .shifts:
        // A group of records from the front to the end, and with the next group back: all of the window is replaced.
        let isBack = !(index / batch).isMultiple(of: 2)
        steps.append(Step(id: index % batch, number: isBack ? index % batch : rows + index))
      case .deletions: steps.append(Step(id: first + index, number: nil))
      case .anywhere: steps.append(Step(id: chance.next(rows), number: chance.next(rows)))
      }
    }
    return steps
  }

  /// Numbers that are the same in each run.
  private struct Chance {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func next(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(max(bound, 1)))
    }
  }
}
