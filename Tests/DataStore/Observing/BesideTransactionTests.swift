import Dispatch
import Foundation
import MartletDataStore
import MartletJSON
import Testing

/// Queries and live queries that begin while a transaction of their store runs.
@Suite(.timeLimit(.minutes(1))) struct BesideTransactionTests {
  private struct Count: Model, Equatable {
    var id: String
    var number: Int
    enum CodingKeys: String, ModelKey { case id, number }
  }

  private static func withStore(inMemory: Bool, _ body: (DataStore) async throws -> Void) async throws {
    guard !inMemory else { return try await body(try DataStore(models: [Count.self], storage: .inMemory)) }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("store.sqlite").path
    try await body(try DataStore(models: [Count.self], storage: .file(path)))
  }

  @Test(arguments: [true, false])
  func `queries and first snapshots come while a transaction runs, whose changes follow`(inMemory: Bool) async throws {
    try await Self.withStore(inMemory: inMemory) { store in
      try await store.save(Count(id: "a", number: 1))
      let (begun, begins) = AsyncStream.makeStream(of: Void.self)
      let gate = DispatchSemaphore(value: 0)
      let transaction = Task {
        try await store.transaction { transaction in
          try transaction.save(Count(id: "a", number: 2))
          try transaction.save(Count(id: "b", number: 3))
          begins.finish()
          gate.wait()
        }
      }
      for await _ in begun {}
      var isOpen = false
      defer { if !isOpen { gate.signal() } }
      let before = [Count(id: "a", number: 1)]
      #expect(try await store.query(Count.self) == before)
      let all = store.observeQuery(for: Count.self, sort: .descending(Count.keys.number))
      let sums = store.observeAggregate([.count, .sum(Count.keys.number)], of: Count.self)
      var snapshots = all.makeAsyncIterator()
      var totals = sums.makeAsyncIterator()
      #expect(try await snapshots.next().map { Array($0.items) } == before)
      #expect(try await totals.next() == [1, 1])
      gate.signal()
      isOpen = true
      try await transaction.value
      let snapshot = try #require(try await snapshots.next())
      #expect(Array(snapshot.items) == [Count(id: "b", number: 3), Count(id: "a", number: 2)])
      #expect(try await totals.next() == [2, 5])
      all.cancel()
      sums.cancel()
    }
  }

  /// Live queries begin at any moment between transactions, each of which leaves the sum of the numbers as it is.
  @Test(arguments: [true, false])
  func `a live query that begins among writes loses no change and has none twice`(inMemory: Bool) async throws {
    try await Self.withStore(inMemory: inMemory) { store in
      try await store.transaction { transaction in
        for number in 0..<20 { try transaction.save(Count(id: "\(number)", number: 10)) }
      }
      let writing = Task {
        for round in 0..<200 {
          try await store.transaction { transaction in
            for (id, step) in [("\(round % 20)", -1), ("\((round * 7 + 3) % 20)", 1)] {
              guard var count = try transaction.query(Count.self, byId: id) else { continue }
              count.number += step
              try transaction.save(count)
            }
            let extra = Count(id: "x\(round / 2)", number: 0)
            if round % 2 == 0 { try transaction.save(extra) } else { _ = try transaction.delete(extra) }
          }
        }
        // Before all others in the order of the queries.
        try await store.save(Count(id: "end", number: 1_000))
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<48 {
          let page: QueryPage? = number % 2 == 0 ? nil : .page(0, limit: 8)
          try await Task.sleep(for: .milliseconds(1))
          group.addTask {
            let sort = QuerySort.descending(Count.keys.number)
            for try await snapshot in store.observeQuery(for: Count.self, sort: sort, paginate: page) {
              let isEnd = snapshot.items.first?.id == "end"
              let sum = snapshot.items.reduce(0) { $0 + $1.number }
              if page == nil { #expect(sum == (isEnd ? 1_200 : 200), "a transaction is shown in part or twice") }
              guard isEnd else { continue }
              #expect(try await store.query(Count.self, sort: sort, paginate: page) == Array(snapshot.items))
              break
            }
          }
          group.addTask {
            for try await values in store.observeAggregate([.count, .sum(Count.keys.number)], of: Count.self) {
              if values == [21, 1_200] { break }
            }
          }
        }
        try await group.waitForAll()
      }
      try await writing.value
    }
  }
}
