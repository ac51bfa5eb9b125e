import MartletDataStore
import MartletJSON
import MartletModelSDL
import MartletModels
import MartletSimulation
import Testing

/// A record with one nullable field of each kind that filters compare.
private struct Sample: Model, Equatable {
  var id: String
  var text: String?
  var whole: Int?
  var real: Double?
  var flag: Bool?
  var at: Temporal.DateTime?
  var time: Temporal.Time?
  enum CodingKeys: String, ModelKey { case id, text, whole, real, flag, at, time }
}

/// Random typed predicates over `Sample`.
private struct RandomSamples {
  var random: RandomPredicates
  static let texts = ["", "a", "ab", "b", "\u{E9}", "e\u{301}", "\u{1F600}"]

  mutating func sample(_ number: Int) -> Sample {
    Sample(
      id: "s\(number)", text: random.chance(4) ? nil : text(), whole: random.chance(4) ? nil : whole(),
      real: random.chance(4) ? nil : real(), flag: random.chance(4) ? nil : random.chance(2),
      at: moment().string.flatMap { try? Temporal.DateTime(iso8601: $0) },
      time: moment().string.flatMap { try? Temporal.Time(iso8601: $0) })
  }

  private mutating func text() -> String { Self.texts[random.count(below: Self.texts.count)] }
  private mutating func moment() -> JSONValue { random.value(.moment) }
  private mutating func whole() -> Int { random.count(below: 5) - 2 }
  private mutating func real() -> Double { Double(random.count(below: 9) - 4) / 2 }

  /// What a real is compared with: also what JSON does not have, and null.
  private mutating func bound() -> JSONValue {
    guard random.chance(4) else { return .double(real()) }
    return [.double(.infinity), .double(-.infinity), .double(.nan), .null][random.count(below: 4)]
  }

  mutating func predicate(depth: Int) -> QueryPredicate {
    guard depth > 0, !random.chance(4) else { return leaf() }
    switch random.count(below: 5) {
    case 0, 1: return .not(predicate(depth: depth - 1))
    case 2: return .and(parts(depth))
    case 3: return .or(parts(depth))
    case _: return random.chance(3) ? .all : predicate(depth: depth - 1) && leaf()
    }
  }

  private mutating func parts(_ depth: Int) -> [QueryPredicate] {
    var parts: [QueryPredicate] = []
    for _ in 0..<random.count(below: 4) { parts.append(predicate(depth: depth - 1)) }
    return parts
  }

  private mutating func leaf() -> QueryPredicate {
    let isNull = random.chance(5)
    switch random.count(below: 6) {
    case 4, 5:
      let field = random.chance(2) ? "at" : "time"
      return .field(field, isNull ? nullity() : comparison(moment(), moment(), isText: true))
    case 0: return .field("text", isNull ? nullity() : comparison(.string(text()), .string(text()), isText: true))
    case 1: return .field("whole", isNull ? nullity() : comparison(.int(Int64(whole())), .int(Int64(whole()))))
    case 2: return .field("real", isNull ? nullity() : comparison(bound(), bound()))
    case _:
      let value = JSONValue.bool(random.chance(2))
      return .field("flag", isNull ? nullity() : random.chance(2) ? .equal(value) : .notEqual(value))
    }
  }

  private mutating func nullity() -> QueryOperator { random.chance(2) ? .equal(.null) : .notEqual(.null) }

  private mutating func comparison(_ value: JSONValue, _ other: JSONValue, isText: Bool = false) -> QueryOperator {
    switch random.count(below: isText ? 10 : 7) {
    case 0: .equal(value)
    case 1: .notEqual(value)
    case 2: .lessThan(value)
    case 3: .lessOrEqual(value)
    case 4: .greaterThan(value)
    case 5: .greaterOrEqual(value)
    case 6: .between(value, other)
    case 7: .contains(value)
    case 8: .notContains(value)
    case _: .beginsWith(value.string ?? "")
    }
  }
}

@Suite struct WirePredicateTests {
  /// The store answers in SQL; the filter that a server gets is read back and evaluated in memory, by two evaluators.
  @Test(arguments: UInt64(1)...3)
  func `a predicate means the same in SQL, in memory and on the wire, null and not included`(seed: UInt64) async throws
  {
    let schema = try ModelSchema(
      """
      type Sample @model {
        id: ID! text: String whole: Int real: Float flag: Boolean at: AWSDateTime time: AWSTime
      }
      """)
    let model = try #require(schema.models.first)
    let store = try DataStore(models: [Sample.self], storage: .inMemory)
    var random = RandomSamples(random: RandomPredicates(seed: seed))
    let samples = (0..<40).map { random.sample($0) }
    try await store.transaction { transaction in for sample in samples { try transaction.save(sample) } }
    func record(_ sample: Sample) -> Record {
      let values: [String: JSONValue?] = [
        "id": .string(sample.id), "text": sample.text.map { .string($0) },
        "whole": sample.whole.map { .int(Int64($0)) },
        "real": sample.real.map { .double($0) }, "flag": sample.flag.map { .bool($0) },
        "at": sample.at.map(\.queryValue), "time": sample.time.map(\.queryValue),
      ]
      return Record(values: model.fields.map { (values[$0.name] ?? nil) ?? .null })
    }
    for _ in 0..<150 {
      let predicate = random.predicate(depth: 3)
      var reader = FilterReader(model)
      let filter = try predicate.filter(.query)
      let wire = try reader.read(JSONValue(parsing: JSONValue.object(filter).serialized()))
      let found = try await store.query(Sample.self, where: predicate).map(\.id).sorted()
      let matching = samples.filter { wire.matches(record($0)) }.map(\.id).sorted()
      let naive = samples.filter { NaiveEvaluator.matches(wire, record($0)) }.map(\.id).sorted()
      #expect(found == matching && matching == naive, "\(predicate)\n\(JSONValue.object(filter))")
    }
  }
}
