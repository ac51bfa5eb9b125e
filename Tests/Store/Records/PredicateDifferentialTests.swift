import MartletJSON
import MartletModels
import MartletStore
import MartletVocabulary
import Testing

/// The same predicates decided in memory, by SQL and by a naive evaluator written for this test alone.
@Suite struct PredicateDifferentialTests {
  static let texts = ["", "a", "ab", "b", "e\u{301}", "\u{e9}", "😀", "\u{ffff}", "a\0b", "A", "%", "a_", "日本"]
  static let wholes: [Int64] = [0, 1, -1, 9_007_199_254_740_992, 9_007_199_254_740_993, .max, .min, 5]
  static let reals: [Double] = [0, -0.0, 0.5, -1.5, 9_007_199_254_740_992, 9_007_199_254_740_994, 1e300, -1e19, 5]

  private func value(_ random: inout SeededRandom) -> JSONValue {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .null
    case 1, 2: .string(Self.texts.randomElement(using: &random) ?? "")
    case 3, 4: .int(Self.wholes.randomElement(using: &random) ?? 0)
    case 5: .double(Self.reals.randomElement(using: &random) ?? 0)
    case 6: .bool(Bool.random(using: &random))
    default: Bool.random(using: &random) ? .uint(UInt64.max) : .array([1, "a", nil])
    }
  }

  private func record(_ id: Int, _ random: inout SeededRandom) -> Record {
    func maybe(_ value: JSONValue) -> JSONValue { Int.random(in: 0..<5, using: &random) == 0 ? .null : value }
    return Record(values: [
      .string("\(id)"), maybe(.string(Self.texts.randomElement(using: &random) ?? "")),
      maybe(.int(Self.wholes.randomElement(using: &random) ?? 0)),
      maybe(.double(Self.reals.randomElement(using: &random) ?? 0)), maybe(.bool(Bool.random(using: &random))),
      maybe(.array([1, "a", .double(0.5), nil].filter { _ in Bool.random(using: &random) })),
    ])
  }

  private func comparison(_ random: inout SeededRandom) -> Comparison {
    func values() -> [JSONValue] { (0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random) } }
    let text = Self.texts.randomElement(using: &random) ?? ""
    let size = Int64.random(in: -1...5, using: &random)
    switch Int.random(in: 0..<16, using: &random) {
    case 0: return .eq(value(&random))
    case 1: return .ne(value(&random))
    case 2: return .lt(value(&random))
    case 3: return .le(value(&random))
    case 4: return .gt(value(&random))
    case 5: return .ge(value(&random))
    case 6: return .between(value(&random), value(&random))
    case 7: return .beginsWith(TextPrefix(text))
    case 8: return .contains(Bool.random(using: &random) ? .string(text) : value(&random))
    case 9: return .notContains(.string(text))
    case 10: return .in(values())
    case 11: return .notIn(values())
    case 12: return .attributeExists(Bool.random(using: &random))
    case 13: return .attributeType(AttributeType.allCases.randomElement(using: &random) ?? .null)
    case 14: return .size(Bool.random(using: &random) ? .eq(size) : .between(size, size + 2))
    default: return .size(Bool.random(using: &random) ? .ne(size) : .gt(size))
    }
  }

  private func predicate(_ depth: Int, _ random: inout SeededRandom) -> Predicate {
    let kind = Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random)
    func parts() -> [Predicate] {
      (0..<Int.random(in: 0..<4, using: &random)).map { _ in predicate(depth - 1, &random) }
    }
    switch kind {
    case 0: return Int.random(in: 0..<5, using: &random) == 0 ? .none : .all
    case 1...5: return .compare(field: Int.random(in: 0..<6, using: &random), comparison(&random))
    case 6: return .and(parts())
    case 7: return .or(parts())
    default: return .not(predicate(depth - 1, &random))
    }
  }

  @Test func `memory, SQL and a naive evaluator agree on 2,400 random predicates`() throws {
    let fixture = try StoreFixture()
    var random = SeededRandom(seed: 20_261_121)
    let records = (0..<60).map { record(100 + $0, &random) }
    try fixture.commit(records.map { WriteRequest(.create(model: Models.mixed, record: $0)) })
    let predicates = (0..<2_400).map { _ in predicate(3, &random) }
    let answers = try fixture.read { snapshot throws(StoreError) in
      var answers: [[String]] = []
      for predicate in predicates {
        let page = try snapshot.list(ListQuery(model: Models.mixed, filter: predicate, limit: 1_000))
        answers.append(page.records.compactMap { $0.record[0].string })
      }
      return answers
    }
    var matches = 0
    for (predicate, answer) in zip(predicates, answers) {
      let memory = records.filter { predicate.matches($0) }.compactMap { $0[0].string }
      let naive = records.filter { Naive.holds(predicate, $0) }.compactMap { $0[0].string }
      #expect(memory == answer, "\(Self.smallest(predicate, records, fixture))")
      #expect(memory == naive, "\(predicate)")
      matches += memory.count
    }
    // Neither everything nor nothing: the predicates do distinguish records.
    #expect(matches > 20_000 && matches < 130_000)
  }

  /// A part of a failing predicate that fails alone, for the message.
  private static func smallest(_ predicate: Predicate, _ records: [Record], _ fixture: StoreFixture) -> Predicate {
    let parts: [Predicate] =
      switch predicate {
      case .all, .none, .compare: []
      case .and(let parts), .or(let parts): parts
      case .not(let part): [part]
      }
    for part in parts {
      let page = try? fixture.read { snapshot throws(StoreError) in
        try snapshot.list(ListQuery(model: Models.mixed, filter: part, limit: 1_000))
      }
      if page?.records.map(\.record) != records.filter({ part.matches($0) }) {
        return smallest(part, records, fixture)
      }
    }
    return predicate
  }

  @Test func `the deepest and widest filter that is read is not too deep for SQL`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a", "JFK")))
    let leaf = Predicate.compare(field: 4, .eq("none"))
    var predicates: [Predicate] = []
    for kind in 0..<3 {
      // Twelve levels, with the comparisons of a whole filter spread over them.
      predicates.append(
        (0..<12).reduce(leaf) { inner, level in
          let others = Array(repeating: leaf, count: 16)
          return switch (kind + level) % 3 {
          case 0: .not(inner)
          case 1: .or(others + [inner] + others)
          default: .and(others + [.or([inner, .all])] + others)
          }
        })
    }
    for predicate in predicates {
      let query = ListQuery(model: Models.flight, filter: predicate)
      let page = try fixture.read { snapshot throws(StoreError) in try snapshot.list(query) }
      let isMatch = predicate.matches(Models.flight("a", "JFK"))
      #expect(page.records.count == (isMatch ? 1 : 0))
    }
  }

  @Test func `a filter of thousands of parts is not too deep for SQL`() throws {
    let fixture = try StoreFixture()
    try fixture.commit(.create(model: Models.flight, record: Models.flight("a", delay: 1_999)))
    let parts = (0..<3_000).map { Predicate.compare(field: 2, .eq(.int(Int64($0)))) }
    let page = try fixture.read { snapshot throws(StoreError) in
      try snapshot.list(ListQuery(model: Models.flight, filter: .or(parts)))
    }
    #expect(page.records.count == 1)
  }
}

/// The meaning of predicates written once more, in the plainest way.
private enum Naive {
  static func holds(_ predicate: Predicate, _ record: Record) -> Bool {
    switch predicate {
    case .all: return true
    case .none: return false
    case .and(let parts): return !parts.contains { !holds($0, record) }
    case .or(let parts):
      for part in parts where holds(part, record) { return true }
      return false
    case .not(let part): return !holds(part, record)
    case .compare(let field, let comparison): return holds(comparison, record.values[field])
    }
  }

  static func holds(_ comparison: Comparison, _ value: JSONValue) -> Bool {
    switch comparison {
    case .eq(let other): equal(value, other)
    case .ne(let other): !equal(value, other)
    case .lt(let other): order(value, other).map { $0 < 0 } == true
    case .le(let other): order(value, other).map { $0 <= 0 } == true
    case .gt(let other): order(value, other).map { $0 > 0 } == true
    case .ge(let other): order(value, other).map { $0 >= 0 } == true
    case .between(let low, let high):
      order(value, low).map { $0 >= 0 } == true && order(value, high).map { $0 <= 0 } == true
    case .beginsWith(let prefix):
      value.string.map { Array($0.utf8.prefix(prefix.text.utf8.count)) == Array(prefix.text.utf8) } == true
    case .contains(let part): contains(value, part)
    case .notContains(let part): !contains(value, part)
    case .in(let list): list.map { equal(value, $0) }.contains(true)
    case .notIn(let list): !list.map { equal(value, $0) }.contains(true)
    case .attributeExists(let exists): (value != .null) == exists
    case .attributeType(let type): kind(value) == type.rawValue
    case .size(let comparison): size(value).map { compares(comparison, $0) } == true
    // `MomentListTests` and the clients' tests compare those.
    case .moment: false
    }
  }

  static func kind(_ value: JSONValue) -> String {
    switch value {
    case .null: "_null"
    case .bool: "bool"
    case .int, .uint, .double: "number"
    case .string: "string"
    case .array: "list"
    case .object: "map"
    }
  }

  /// Every 64-bit integer and every double is exact with 64 bits of mantissa or as an integer of 128 bits.
  static func sign(_ left: JSONValue, _ right: JSONValue) -> Int? {
    guard let a = fraction(left), let b = fraction(right) else { return nil }
    if a.whole != b.whole { return a.whole < b.whole ? -1 : 1 }
    return a.rest == b.rest ? 0 : a.rest < b.rest ? -1 : 1
  }

  private static func fraction(_ value: JSONValue) -> (whole: Int128, rest: Double)? {
    switch value {
    case .int(let number): return (Int128(number), 0)
    case .uint(let number): return (Int128(number), 0)
    case .double(let number):
      if number > 1e30 { return (.max, number) }
      if number < -1e30 { return (.min, number) }
      let whole = number.rounded(.down)
      return (Int128(whole), number - whole)
    case .null, .bool, .string, .array, .object: return nil
    }
  }

  static func order(_ left: JSONValue, _ right: JSONValue) -> Int? {
    if let a = left.string, let b = right.string {
      if Array(a.utf8) == Array(b.utf8) { return 0 }
      return a.unicodeScalars.lexicographicallyPrecedes(b.unicodeScalars) ? -1 : 1
    }
    return sign(left, right)
  }

  static func equal(_ left: JSONValue, _ right: JSONValue) -> Bool {
    if let sign = sign(left, right) { return sign == 0 }
    if let a = left.string, let b = right.string { return Array(a.utf8) == Array(b.utf8) }
    return left == right
  }

  static func contains(_ value: JSONValue, _ part: JSONValue) -> Bool {
    if let elements = value.array { return elements.contains { equal($0, part) } }
    guard let text = value.string, let part = part.string else { return false }
    let bytes = Array(text.utf8)
    let wanted = Array(part.utf8)
    return (0...bytes.count).contains { Array(bytes.dropFirst($0).prefix(wanted.count)) == wanted }
  }

  static func size(_ value: JSONValue) -> Int64? {
    if let text = value.string { return Int64(Array(text.utf8).count) }
    return value.array.map { Int64($0.count) }
  }

  static func compares(_ comparison: SizeComparison, _ size: Int64) -> Bool {
    switch comparison {
    case .eq(let other): size == other
    case .ne(let other): size != other
    case .lt(let other): size < other
    case .le(let other): size <= other
    case .gt(let other): size > other
    case .ge(let other): size >= other
    case .between(let low, let high): low <= size && size <= high
    }
  }
}
