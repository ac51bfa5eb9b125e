import Foundation
import Martlet
import MartletDataStore
import MartletJSON
import MartletServer
import Testing

/// A record with a field of each kind that predicates compare.
struct Sample: Model, Equatable {
  enum Mood: String, Codable, Sendable, QueryOperand { case happy, sad }

  var id: String
  var text: String?
  var ints: [Int]?
  var floats: [Double]?
  var flags: [Bool]?
  var moods: [Mood]?
  var mood: Mood?
  var rank: Int?
  var flag: Bool?
  var at: Temporal.DateTime?
  var names: [String?]?
  enum CodingKeys: String, ModelKey { case id, text, ints, floats, flags, moods, mood, rank, flag, at, names }

  static let schema = """
    enum Mood { happy sad }
    type Sample @model @versioned @auth(rules: [{allow: private}]) {
      id: ID! text: String ints: [Int] floats: [Float!] flags: [Boolean] moods: [Mood] mood: Mood rank: Int
      flag: Boolean at: AWSDateTime names: [String]
    }
    """

  static let all = [
    Sample(id: "a"),
    Sample(
      id: "b", text: "ab", ints: [1, 3], floats: [1.5], flags: [true], moods: [.happy], mood: .happy, rank: 1,
      flag: true, at: moment("12:00:00.000+02:00")),
    Sample(
      id: "c", text: "5", ints: [3], floats: [2, 3], flags: [false], moods: [.sad], mood: .sad, rank: 3, flag: false,
      at: moment("10:00Z")),
    Sample(id: "d", text: "", ints: [], floats: [], flags: [], moods: [], rank: -5, at: moment("09:30-00:30")),
    Sample(
      id: "e", ints: [33, 5], moods: [.happy, .sad], mood: .sad, rank: 4, flag: true, at: moment("10:00:00.001Z")),
  ]

  static func moment(_ time: String) -> Temporal.DateTime? {
    try? Temporal.DateTime(iso8601: "2026-11-22T" + time)
  }
}

/// A server's inputs have types and the device compares any two values: what it asks the server means the same there.
@Suite(.timeLimit(.minutes(1))) struct SyncedPredicateTests {
  private static let predicates: [QueryPredicate] = {
    let sample = Sample.keys
    let fractions = [
      sample.rank > 2.5, sample.rank <= 2.5, !(sample.rank < 3.5), sample.rank == 2.5, sample.rank != 2.5,
    ]
    let bounds = [
      sample.rank < Double.infinity, sample.rank >= -1e300, sample.rank < -Double.infinity,
      sample.rank.between(start: -Double.infinity, end: 3.5), sample.rank == 1e300, sample.rank == 3.0,
    ]
    let others = [
      sample.text == 5, sample.text != 5, !(sample.text > 5), sample.text.contains(5), sample.rank == "3",
      sample.rank.beginsWith("3"), !sample.rank.contains(3), sample.flag > false, sample.flag != 1,
      sample.text > JSONValue.null, !(sample.text > JSONValue.null), !sample.rank.between(start: nil as Int?, end: 4),
    ]
    let lists = [
      sample.ints.contains(3), sample.ints.notContains(3), !sample.ints.contains(3.0), sample.ints == nil,
      sample.floats.contains(2), sample.floats.notContains(1.5), sample.flags.contains(true),
      sample.flags.notContains(true), sample.ints.contains(3) && sample.floats.contains(1.5),
    ]
    let enums = [
      sample.mood == nil, sample.mood != nil, !(sample.mood == nil), sample.moods == nil, sample.moods != nil,
    ]
    let ten = Sample.moment("11:00+01:00")
    let moments = [
      sample.at == ten, sample.at != ten, sample.at < ten, sample.at <= ten, sample.at > ten, !(sample.at > ten),
      sample.at.between(start: ten, end: ten), sample.at == nil,
    ]
    return fractions + bounds + others + lists + enums + moments
  }()

  @Test func `a sync expression selects the records that the predicate selects on the device`() async throws {
    try await SyncedServer.with(Sample.schema) { server in
      let bob = try SyncedStore(server, as: "bob", models: [Sample.self])
      defer { bob.close() }
      for sample in Sample.all { try await bob.store.save(sample) }
      try await bob.settle()
      for predicate in Self.predicates {
        let ada = try SyncedStore(server, models: [Sample.self]) { configuration in
          configuration.syncExpressions = [.syncExpression(Sample.self) { predicate }]
        }
        defer { ada.close() }
        try await ada.store.start()
        try await ada.wait { $0.isSettled || $0.lastError != nil }
        #expect(ada.store.syncStatus.lastError == nil, "\(predicate)")
        let (here, there) = (
          try await bob.store.query(Sample.self, where: predicate), try await ada.store.query(Sample.self)
        )
        #expect(Set(here.map(\.id)) == Set(there.map(\.id)), "\(predicate)")
      }
    }
  }

  @Test func `a condition that holds on the device holds at the server, and one that does not ends the write`()
    async throws
  {
    try await SyncedServer.with(Sample.schema) { server in
      let ada = try SyncedStore(server, models: [Sample.self])
      defer { ada.close() }
      for sample in Sample.all { try await ada.store.save(sample) }
      try await ada.settle()
      for predicate in Self.predicates {
        for var sample in try await ada.store.query(Sample.self, where: predicate) {
          sample.floats = (sample.floats ?? []) + [100]
          let end = try await ada.store.submit(sample, where: predicate).end(before: .durable)
          #expect(end == nil, "\(predicate)")
        }
      }
      // Another store has taken the element away meanwhile.
      try await ada.cut()
      var sample = try #require(try await ada.store.query(Sample.self, byId: "c"))
      sample.text = "late"
      let late = try await ada.store.submit(sample, where: Sample.keys.ints.contains(3))
      let bob = try SyncedStore(server, as: "bob", models: [Sample.self])
      defer { bob.close() }
      try await bob.settle()
      var other = try #require(try await bob.store.query(Sample.self, byId: "c"))
      other.ints = [4]
      try await bob.store.submit(other).reached(.durable)
      try await ada.mend()
      #expect(await late.end(before: .durable) == .rejected(.conditionFailed))
    }
  }

  /// A server would take it that nothing is asked.
  @Test func `whether a list contains null is asked on the device and refused by name for a server`() async throws {
    let holdsNull = Sample.keys.names.contains(nil as String?)
    let local = try DataStore(models: [Sample.self], storage: .inMemory)
    let sample = try await local.save(Sample(id: "a", names: ["x", nil]))
    #expect(try await local.query(Sample.self, where: holdsNull) == [sample])
    #expect(try await local.save(sample, where: holdsNull) == sample)
    try await SyncedServer.with(Sample.schema) { server in
      let ada = try SyncedStore(server, models: [Sample.self]) { configuration in
        configuration.syncExpressions = [.syncExpression(Sample.self) { !holdsNull }]
      }
      defer { ada.close() }
      try await ada.store.start()
      try await ada.wait { $0.lastError != nil }
      #expect(ada.store.syncStatus.lastError?.code == .invalidQuery)
      try await ada.store.save(sample)
      #expect(try await ada.store.query(Sample.self, where: holdsNull) == [sample])
      for attempt in 0..<3 {
        let error = await #expect(throws: DataStoreError.self) {
          switch attempt {
          case 0: _ = try await ada.store.save(sample, where: holdsNull)
          case 1: try await ada.store.delete(sample, where: holdsNull)
          default: _ = try await ada.store.submit(sample, where: holdsNull)
          }
        }
        #expect(error?.code == .invalidQuery && error?.message.contains("Sample.names") == true, "\(attempt)")
      }
    }
  }

  @Test func `a record enters and leaves a store by the elements of its list of numbers`() async throws {
    try await SyncedServer.with(Sample.schema) { server in
      let bob = try SyncedStore(server, as: "bob", models: [Sample.self])
      let ada = try SyncedStore(server, models: [Sample.self]) { configuration in
        configuration.syncExpressions = [.syncExpression(Sample.self) { Sample.keys.ints.contains(7) }]
      }
      defer {
        ada.close()
        bob.close()
      }
      try await ada.settle()
      var sample = Sample(id: "a", ints: [1])
      for ints in [[1], [1, 7], [7, 2], [2], [7]] {
        sample.ints = ints
        try await bob.store.submit(sample).reached(.durable)
        let expected = ints.contains(7) ? [sample] : []
        for try await snapshot in ada.store.observeQuery(for: Sample.self) where Array(snapshot.items) == expected {
          break
        }
      }
    }
  }
}
