import MartletChangeFeed
import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletVocabulary
import Testing

/// Exact counters in place of timings: what a change costs does not grow with the rows that it does not concern.
@Suite struct WindowWorkTests {
  /// 50 rows in the middle of 100,000, and 4,000 rows removed and put back anywhere.
  @Test func `a window of 50 in 100,000 rows reads few rows, wherever in the order changes fall`() {
    var window = Numbers.window(offset: 50_000, limit: 50, margin: 64)
    var rows = SharedChunks((Int64(0)..<100_000).map { Numbers.row($0) })
    func serve() {
      while let request = window.request {
        switch request {
        case .page(let offset, let count):
          window.fill(
            WindowRows((offset..<offset + (count ?? 0)).map { rows[$0] }, skipped: offset), for: request)
        case .after(let row, let count):
          let start = index(of: row) + 1
          window.fill(WindowRows((start..<min(start + count, rows.count)).map { rows[$0] }), for: request)
        case .before(let row, let count):
          let end = index(of: row)
          window.fill(WindowRows((max(0, end - count)..<end).map { rows[$0] }), for: request)
        }
      }
    }
    func index(of row: LiveRow) -> Int {
      var (low, high) = (0, rows.count)
      while low < high {
        let middle = (low + high) / 2
        if Numbers.order.compare(rows[middle].record, row.record) < 0 { low = middle + 1 } else { high = middle }
      }
      return low
    }
    serve()
    var random = SeededRandom(seed: 7)
    for _ in 0..<2_000 {
      let place = Int(random.next() % UInt64(rows.count))
      let row = rows.remove(at: place)
      window.apply(.left(row))
      window.settle()
      serve()
      rows.insert(row, at: place)
      window.apply(.entered(row))
      window.settle()
      serve()
    }
    #expect(window.counters.changes == 4_000)
    #expect(window.counters.rowsRead < 1_000)
    #expect(window.counters.comparisons < 4_000 * 12)
    #expect(Array(window.rows) == (50_000..<50_050).map { rows[$0] })
  }

  /// The same record in a later version.
  private func newer(_ row: LiveRow) -> LiveRow {
    LiveRow(key: row.key, record: row.record, version: row.version + 1)
  }

  @Test func `a row that changes at its place is looked for once, and the snapshot looks for nothing`() {
    var window = Numbers.window(offset: 0, limit: 100, margin: 64)
    let rows = (Int64(0)..<164).map { Numbers.row($0) }
    if let request = window.request { window.fill(WindowRows(rows), for: request) }
    _ = window.take()
    let before = window.counters
    let changed = newer(rows[40])
    window.apply(.stayed(from: rows[40], to: changed))
    window.settle()
    #expect(window.take()?.changes.updates == [40])
    #expect(window.counters.rowsTouched - before.rowsTouched == 1)
    // One comparison says that the place is the same, and eleven find it among 164 rows.
    #expect(window.counters.comparisons - before.comparisons <= 12)
    #expect(window.counters.rowsRead == before.rowsRead)
  }

  @Test func `rows that changed at their places before others came and went are in the snapshot, too`() {
    var window = Numbers.window(offset: 0, limit: 100, margin: 64)
    let rows = (Int64(0)..<164).map { Numbers.row($0 * 2) }
    if let request = window.request { window.fill(WindowRows(rows), for: request) }
    _ = window.take()
    for place in [3, 50, 50, 120] {
      let changed = newer(rows[place])
      window.apply(.stayed(from: rows[place], to: changed))
    }
    window.apply(.entered(Numbers.row(21)))
    window.apply(.left(rows[0]))
    window.settle()
    let changes = window.take()?.changes
    #expect(changes?.deletions == [0] && changes?.insertions == [10] && changes?.moves == [])
    #expect(changes?.updates == [2, 50])
  }

  @Test func `rows that come after a page cost its consumer nothing, and leave nothing behind`() {
    var window = Numbers.window(offset: 0, limit: 100, margin: 64)
    if let request = window.request {
      window.fill(WindowRows((Int64(0)..<164).map { Numbers.row($0) }), for: request)
    }
    _ = window.take()
    window.apply(.left(Numbers.row(7)))
    let before = window.counters
    for number in Int64(1_000)..<2_000 { window.apply(.entered(Numbers.row(number))) }
    window.settle()
    // Each is compared with the last row that is kept, and with the last that the consumer has.
    #expect(window.counters.comparisons - before.comparisons == 2_000)
    #expect(window.counters.rowsTouched == before.rowsTouched)
    let changes = window.take()?.changes
    #expect(changes?.deletions == [7] && changes?.insertions == [99])
    // The snapshot looks for the row that has left, and not for the others.
    #expect(window.counters.comparisons - before.comparisons < 2_050)
  }

  /// The page has moved away from what the consumer has, so that a row comes after all that is kept and still among the
  /// rows of the consumer.
  @Test func `a row that enters behind what is kept, among what the consumer has, is in its snapshot as new`() {
    var window = Numbers.window(offset: 0, limit: 100, margin: 4)
    var rows = (Int64(0)..<400).map { Numbers.row($0 * 2) }
    func serve() {
      window.settle()
      while let request = window.request {
        switch request {
        case .page(let offset, let count):
          window.fill(WindowRows(Array(rows[offset..<offset + (count ?? 0)]), skipped: offset), for: request)
        case .after(let row, let count):
          let start = (rows.firstIndex { $0.key == row.key } ?? -1) + 1
          window.fill(WindowRows(Array(rows[start..<start + count])), for: request)
        case .before: Issue.record("a page from the start needs nothing before it")
        }
      }
    }
    serve()
    let published = Array(window.take()?.rows ?? VisibleRows())
    #expect(published.count == 100)
    let front = (Int64(-150)..<0).map { Numbers.row($0) }
    for row in front.reversed() {
      rows.insert(row, at: 0)
      window.apply(.entered(row))
    }
    serve()
    #expect(window.keptCount < 150)
    rows.insert(Numbers.row(101), at: 150 + 51)
    window.apply(.entered(Numbers.row(101)))
    serve()
    for row in front {
      rows.removeFirst()
      window.apply(.left(row))
    }
    serve()
    let snapshot = window.take()
    #expect(snapshot?.changes == ChangeSet(from: published, to: Array(rows[..<100])))
    #expect(snapshot?.changes.insertions == [51] && snapshot?.changes.deletions == [99])
  }

  @Test func `a change is tried on the queries that ask for its values, and on no other`() {
    var set = LiveQuerySet()
    var ids: [LiveQueryID] = []
    for owner in Int64(0)..<200 {
      let id = set.add(
        WindowQuery(
          model: 0, predicate: .compare(field: 0, .eq(.int(owner))), order: Numbers.order, limit: 10))
      set.update(id, window: { if let request = $0.request { $0.fill(WindowRows([]), for: request) } })
      ids.append(id)
    }
    let met = set.apply([RowChange(model: 0, before: nil, after: Numbers.row(17))])
    #expect(met == [ids[17]])
    #expect(set.counters.lookups == 1)
    #expect(set.counters.evaluations == 0)
    #expect(set.window(ids[18])?.counters.changes == 0)
    #expect(set.apply([RowChange(model: 1, before: nil, after: Numbers.row(17))]).isEmpty)
  }

  @Test func `queries of one condition are found one by one as others of it are removed`() {
    var set = LiveQuerySet()
    let query = WindowQuery(model: 0, predicate: .compare(field: 0, .gt(.int(3))), order: Numbers.order, limit: 10)
    var ids = (0..<4).map { _ in set.add(query) }
    for id in ids { set.update(id, window: { if let request = $0.request { $0.fill(WindowRows([]), for: request) } }) }
    let change = RowChange(model: 0, before: nil, after: Numbers.row(17))
    for removed in [1, 0, 1, 0] {
      let met = set.apply([change])
      #expect(Set(met) == Set(ids) && met.count == ids.count)
      // The condition is tried once, however many queries have it.
      #expect(set.counters.evaluations == 5 - ids.count)
      set.remove(ids.remove(at: removed))
    }
    #expect(set.apply([change]).isEmpty && set.count == 0)
  }

  @Test func `the name of a removed query does not reach the query that has its place`() {
    var set = LiveQuerySet()
    let first = set.add(WindowQuery(model: 0, order: Numbers.order, limit: 1))
    set.remove(first)
    let second = set.add(WindowQuery(model: 0, order: Numbers.order, limit: 2))
    #expect(set.window(first) == nil && set.window(second)?.query.limit == 2)
    set.remove(first)
    #expect(set.window(second) != nil && set.count == 1)
  }

  /// The rest of the 2 KiB that a live query may cost beside its rows is its consumer's, and its part of the index.
  @Test func `a window is as small as it was measured`() {
    #expect(MemoryLayout<QueryWindow>.size <= 200)
    #expect(MemoryLayout<LiveQuerySet.Query?>.size <= 208)
  }

  @Test func `a query that was removed is not found`() {
    var set = LiveQuerySet()
    let id = set.add(WindowQuery(model: 0, order: Numbers.order))
    set.remove(id)
    #expect(set.apply([RowChange(model: 0, before: nil, after: Numbers.row(1))]).isEmpty)
    #expect(set.count == 0 && set.window(id) == nil)
  }
}
