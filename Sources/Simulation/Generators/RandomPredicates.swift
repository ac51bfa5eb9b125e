package import MartletJSON
package import MartletModels
package import MartletVocabulary

/// Random records and conditions over a handful of awkward values, so that equality and near misses are frequent.
package struct RandomPredicates {
  /// What a field holds.
  package enum Kind: CaseIterable, Sendable { case text, whole, real, truth, textList, moment }

  /// The kinds of the fields, by position.
  package let kinds: [Kind]
  package var random: SeededRandom

  package init(kinds: [Kind] = [.text, .whole, .real, .truth, .textList, .moment], seed: UInt64) {
    self.kinds = kinds
    random = SeededRandom(seed: seed)
  }

  /// Composed and decomposed forms, the ends of the surrogate range and beyond it, a prefix of another.
  package static let texts = ["", "a", "ab", "b", "A", "\u{E9}", "e\u{301}", "\u{FFFF}", "\u{1F600}", "a\u{0}b"]
  package static let wholes: [Int64] = [-1, 0, 1, 2, 1 << 53, (1 << 53) + 1, .min, .max]
  package static let reals = [-0.0, 0, 0.5, 1, -1.5, 0x1p53, 0x1p63, -0x1p63, 1e300, -1e300]

  /// One moment in several forms, its neighbours by a millisecond and by a day, times of day, and no moments at all.
  package static let moments = [
    "2026-11-22T10:00Z", "2026-11-22T10:00:00Z", "2026-11-22T12:00:00.000+02:00", "2026-11-22T10:00:00.0009Z",
    "2026-11-22T10:00:00.001Z", "2026-11-22T09:59:59.999Z", "2026-11-21T23:30-10:30", "2026-11-22", "2026-11-22Z",
    "2026-11-21T24:00Z", "2026-11-22T00:00:00.000-00:00:01", "10:00Z", "12:00:00.000+02:00", "10:00", "9:00", "",
  ]

  /// A record, about every fifth of its values null.
  package mutating func record() -> Record {
    var values: [JSONValue] = []
    for kind in kinds { values.append(chance(5) ? .null : value(kind)) }
    return Record(values: values)
  }

  /// A value of a field of `kind`.
  package mutating func value(_ kind: Kind) -> JSONValue {
    switch kind {
    case .text: return .string(pick(Self.texts))
    case .whole: return .int(pick(Self.wholes))
    case .real: return .double(pick(Self.reals))
    case .truth: return .bool(chance(2))
    case .moment: return .string(pick(Self.moments))
    case .textList:
      var elements: [JSONValue] = []
      for _ in 0..<count(below: 4) { elements.append(.string(pick(Self.texts))) }
      return .array(elements)
    }
  }

  /// A condition of at most `depth` levels of `and`, `or` and `not`, empty ones among them.
  package mutating func predicate(depth: Int) -> Predicate {
    guard depth > 0, !chance(3) else { return leaf() }
    switch count(below: 8) {
    case 0: return .not(predicate(depth: depth - 1))
    case 1: return chance(2) ? .all : .none
    case 2, 3, 4: return .and(parts(depth))
    case _: return .or(parts(depth))
    }
  }

  private mutating func parts(_ depth: Int) -> [Predicate] {
    var parts: [Predicate] = []
    for _ in 0..<count(below: 4) { parts.append(predicate(depth: depth - 1)) }
    return parts
  }

  /// One comparison; with equality about every second one, as subscriptions have it.
  package mutating func leaf() -> Predicate {
    let field = count(below: kinds.count)
    let kind = kinds[field]
    if kind == .moment, chance(4) { return .compare(field: field, .beginsWith("2026-11-22")) }
    if kind == .moment { return .compare(field: field, (chance(2) ? equality(kind) : order(kind)).ofMoments) }
    if kind != .textList, chance(2) { return .compare(field: field, equality(kind)) }
    let types = AttributeType.allCases
    switch count(below: 6) {
    case 0: return .compare(field: field, .attributeExists(chance(2)))
    case 1: return .compare(field: field, .attributeType(types[count(below: types.count)]))
    case 2 where kind == .text || kind == .textList: return .compare(field: field, .size(size()))
    case _: return .compare(field: field, kind == .textList ? membership() : order(kind))
    }
  }

  private mutating func equality(_ kind: Kind) -> Comparison {
    switch count(below: 4) {
    case 0: return .ne(operand(kind))
    case 1: return .in(operands(kind))
    case 2: return .notIn(operands(kind))
    case _: return .eq(operand(kind))
    }
  }

  private mutating func order(_ kind: Kind) -> Comparison {
    switch count(below: kind == .text ? 8 : 5) {
    case 0: return .lt(operand(kind))
    case 1: return .le(operand(kind))
    case 2: return .gt(operand(kind))
    case 3: return .ge(operand(kind))
    case 4: return .between(operand(kind), operand(kind))
    case 5: return .beginsWith(TextPrefix(pick(Self.texts)))
    case _: return membership()
    }
  }

  private mutating func membership() -> Comparison {
    let part = JSONValue.string(pick(Self.texts))
    return chance(2) ? .contains(part) : .notContains(part)
  }

  private mutating func size() -> SizeComparison {
    let number = Int64(count(below: 5))
    switch count(below: 7) {
    case 0: return .eq(number)
    case 1: return .ne(number)
    case 2: return .lt(number)
    case 3: return .le(number)
    case 4: return .gt(number)
    case 5: return .ge(number)
    case _: return .between(number, Int64(count(below: 5)))
    }
  }

  /// A value to compare with: sometimes null, and for numbers sometimes of the other representation.
  private mutating func operand(_ kind: Kind) -> JSONValue {
    if chance(12) { return .null }
    switch kind {
    case .whole where chance(4): return value(.real)
    case .real where chance(4): return value(.whole)
    case .text, .whole, .real, .truth, .textList, .moment: return value(kind)
    }
  }

  private mutating func operands(_ kind: Kind) -> [JSONValue] {
    var values: [JSONValue] = []
    for _ in 0..<count(below: 4) { values.append(operand(kind)) }
    return values
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[count(below: elements.count)] }

  /// A number from zero up to but not including `bound`.
  package mutating func count(below bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  /// True once in `odds` times.
  package mutating func chance(_ odds: Int) -> Bool { count(below: odds) == 0 }
}
