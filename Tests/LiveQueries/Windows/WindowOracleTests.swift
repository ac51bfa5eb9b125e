import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSimulation
import Testing

@Suite struct WindowOracleTests {
  @Test(arguments: UInt64(1)...3)
  func `P6: after every commit a window shows what a fresh query gives, and its changes lead there`(seed: UInt64) {
    var table = RandomTable(keys: 40, seed: seed)
    for _ in 0..<30 { _ = table.write() }
    var set = LiveQuerySet()
    var live: [(id: LiveQueryID, query: WindowQuery, shown: SharedChunks<LiveRow>)] = []
    for number in 0..<16 {
      let query = table.query()
      var limits = WindowLimits()
      limits.margin = number % 3 == 0 ? 0 : number % 3
      let id = set.add(query, limits: limits)
      set.update(id, window: { table.serve(&$0) })
      live.append((id, query, SharedChunks()))
    }
    for commit in 0..<80 {
      var changes: [RowChange] = []
      for _ in 0...table.random.count(below: 4) { changes.append(table.write()) }
      let before = live.map { set.window($0.id)?.counters ?? WindowCounters() }
      let met = set.apply(changes)
      for id in met { set.update(id, window: { table.serve(&$0) }) }
      for place in live.indices {
        let (id, query, _) = live[place]
        // A change concerns a query once at most, and a row that moves is taken out and put in: no other is touched.
        let work = set.window(id)?.counters ?? WindowCounters()
        #expect(work.changes - before[place].changes <= changes.count)
        #expect(work.rowsTouched - before[place].rowsTouched <= 2 * (work.changes - before[place].changes))
        #expect(work.requests > before[place].requests || work.rowsRead == before[place].rowsRead)
        let expected = table.page(query)
        #expect(set.window(id).map { Array($0.rows) } == expected)
        // Some consumers are slow and take several commits at once.
        guard (commit + place) % 3 != 0 else { continue }
        var snapshot: WindowSnapshot?
        set.update(id, window: { snapshot = $0.take() })
        if let snapshot {
          snapshot.changes.apply(to: &live[place].shown) { snapshot.rows[$0] }
          #expect(Array(snapshot.rows) == expected)
        }
        #expect(Array(live[place].shown) == expected, "commit \(commit), query \(query)")
      }
    }
  }

  @Test func `the changes found from touched rows are as few as those found by looking at every row`() {
    var table = RandomTable(keys: 60, seed: 99)
    for _ in 0..<50 { _ = table.write() }
    for _ in 0..<20 {
      var window = QueryWindow(table.query())
      table.serve(&window)
      _ = window.take()
      for _ in 0..<60 {
        let before = Array(window.rows)
        let change = table.write()
        let predicate = window.query.predicate
        let old = change.before.flatMap { predicate.matches($0.record) ? $0 : nil }
        let new = change.after.flatMap { predicate.matches($0.record) ? $0 : nil }
        if let effect = ChangeEffect(old, new) { window.apply(effect) }
        window.settle()
        table.serve(&window)
        let naive = ChangeSet(from: before, to: Array(window.rows))
        let found = window.take()?.changes ?? ChangeSet()
        #expect(found.deletions == naive.deletions && found.insertions == naive.insertions)
        #expect(found.moves.count == naive.moves.count)
        // Of two rows that change places either may be called the one that moved.
        #expect(found.updates == naive.updates || !found.moves.isEmpty)
      }
    }
  }
}
