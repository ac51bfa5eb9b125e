internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels
internal import MartletSQLite

/// A predicate in SQL, with the meaning `Predicate.matches` has in memory.
///
/// Every part is true or false and never SQL's unknown, so that NOT means the same. Numbers are brought to the column's
/// own type first, exactly: SQLite rounds an integer when it seeks it in an index over reals. Lists and embedded values
/// are decided in memory: the parts of a conjunction that need them stay behind as `residual`.
struct PredicateSQL {
  static let yes = "1"
  static let no = "0"

  private(set) var text = PredicateSQL.yes
  private(set) var values: [SQLValue] = []
  /// What SQL does not decide; nil when it decides all.
  private(set) var residual: Predicate?

  private let shape: RecordShape
  private let related: RelatedTerms
  private let shapes: [Int: RecordShape]
  /// What names the row in subqueries: the table, or its alias in a subquery itself.
  private let scope: String
  private let depth: Int

  /// - Parameters:
  ///   - related: the terms whose values the predicate compares after the fields of `shape`.
  ///   - shapes: the models of these terms, by number.
  init(
    _ predicate: Predicate, _ shape: RecordShape, related: RelatedTerms = RelatedTerms(),
    shapes: [Int: RecordShape] = [:]
  ) throws(StoreError) {
    var inMemory: [Predicate] = []
    var inSQL: [Predicate] = []
    let parts = Self.conjuncts(predicate)
    let room = Self.parserStack - Self.joining(parts.count)
    for part in parts {
      let isDecided = try Self.isDecidable(part, shape, related, shapes) && Self.weight(part, related) <= room
      if isDecided { inSQL.append(part) } else { inMemory.append(part) }
    }
    self.init(decidable: .and(inSQL), shape, related, shapes, scope: shape.table, depth: 1)
    if !inMemory.isEmpty { residual = .and(inMemory) }
  }

  private init(
    decidable predicate: Predicate, _ shape: RecordShape, _ related: RelatedTerms, _ shapes: [Int: RecordShape],
    scope: String, depth: Int
  ) {
    self.shape = shape
    self.related = related
    self.shapes = shapes
    self.scope = scope
    self.depth = depth
    text = translate(predicate)
  }

  /// The parts that must all hold; none for the predicate that always does.
  static func conjuncts(_ predicate: Predicate) -> [Predicate] {
    switch predicate {
    case .all: []
    case .and(let parts): parts.flatMap(conjuncts)
    case .none, .or, .not, .compare: [predicate]
    }
  }

  private static func isDecidable(
    _ predicate: Predicate, _ shape: RecordShape, _ related: RelatedTerms, _ shapes: [Int: RecordShape]
  ) throws(StoreError) -> Bool {
    switch predicate {
    case .all, .none: return true
    case .and(let parts), .or(let parts):
      for part in parts where try !isDecidable(part, shape, related, shapes) { return false }
      return true
    case .not(let part): return try isDecidable(part, shape, related, shapes)
    case .compare(let field, let comparison):
      if let term = related.term(at: field) {
        guard let other = shapes[term.model] else {
          throw StoreError(.invalid, "\(shape.name) relates to a model that the store does not have")
        }
        guard case .exists(let condition) = term.content, comparison == .eq(.bool(true)) else { return false }
        return try isDecidable(condition, other, term.related, shapes)
      }
      guard shape.columns.indices.contains(field) else {
        throw StoreError(.invalid, "\(shape.name) has no field number \(field)")
      }
      if case .attributeExists = comparison { return true }
      return shape.columns[field].storage != .json
    }
  }

  // MARK: Depth

  /// What a condition may take of the stack of SQLite's parser, which has 100 entries: the statement around it takes 10
  /// at most, and a condition over relations or a predicate of a program is far below. What is deeper is decided in
  /// memory.
  private static let parserStack = 80

  /// Entries of the parser's stack, counted rather too high, that a predicate takes while its deepest part is read.
  private static func weight(_ predicate: Predicate, _ related: RelatedTerms) -> Int {
    switch predicate {
    case .all, .none: return 1
    case .and(let parts), .or(let parts):
      return joining(parts.count) + (parts.map { weight($0, related) }.max() ?? 1)
    case .not(let part): return 2 + weight(part, related)
    case .compare(let field, _):
      guard let term = related.term(at: field), case .exists(let condition) = term.content else { return 10 }
      return 14 + weight(condition, term.related)
    }
  }

  /// The same for the joining of some parts, which is done in halves.
  private static func joining(_ count: Int) -> Int {
    var (levels, left) = (1, count)
    while left > 8 {
      left = (left + 1) / 2
      levels += 1
    }
    return 3 * levels
  }

  // MARK: Translation

  private mutating func translate(_ predicate: Predicate) -> String {
    switch predicate {
    case .all: return Self.yes
    case .none: return Self.no
    case .and(let parts):
      let texts = parts.map { translate($0) }
      if texts.contains(Self.no) && values.isEmpty { return Self.no }
      return Self.joined(texts.filter { $0 != Self.yes }[...], "AND", empty: Self.yes)
    case .or(let parts):
      return Self.joined(alternatives(parts)[...], "OR", empty: Self.no)
    case .not(let part):
      return "(NOT \(translate(part)))"
    case .compare(let field, let comparison):
      return compare(field, comparison)
    }
  }

  /// The texts of the parts of a disjunction. Values that one field is compared with become a list: SQLite's time for
  /// alternatives grows with their number's square, and is half a second for 5,000.
  private mutating func alternatives(_ parts: [Predicate]) -> [String] {
    var texts: [String] = []
    var lists: [Int: [JSONValue]] = [:]
    var moments: [Int: [JSONValue]] = [:]
    for part in parts {
      if case .compare(let field, .eq(let value)) = part, related.term(at: field) == nil {
        lists[field, default: []].append(value)
      } else if case .compare(let field, .moment(.eq(let value))) = part, related.term(at: field) == nil {
        moments[field, default: []].append(value)
      } else {
        texts.append(translate(part))
      }
    }
    for (lists, isMoment) in [(lists, false), (moments, true)] {
      for (field, values) in lists.sorted(by: { $0.key < $1.key }) {
        let column = column(field, isMoment)
        texts.append(values.count == 1 ? equal(field, column, values[0]) : isIn(field, column, values))
      }
    }
    return texts
  }

  /// Joins in halves: SQLite limits the depth of an expression, and a plain chain is as deep as it is long.
  private static func joined(_ parts: ArraySlice<String>, _ word: String, empty: String) -> String {
    guard let first = parts.first else { return empty }
    if parts.count == 1 { return first }
    if parts.count <= 8 { return "(" + parts.joined(separator: " \(word) ") + ")" }
    let middle = parts.startIndex + parts.count / 2
    return "(\(joined(parts[..<middle], word, empty: empty)) \(word) \(joined(parts[middle...], word, empty: empty)))"
  }

  /// Whether a related record fulfils a term's condition.
  private mutating func exists(_ term: RelatedTerm) -> String {
    guard case .exists(let condition) = term.content, let other = shapes[term.model] else { return Self.no }
    let alias = "related_\(depth)"
    let inner = PredicateSQL(
      decidable: condition, other, term.related, shapes, scope: alias, depth: depth + 1)
    let joins = zip(term.ownFields, term.otherFields).map { own, position in
      "\(alias).\(other.column(position)) = \(scope).\(shape.column(own))"
    }
    values += inner.values
    return "(EXISTS (SELECT 1 FROM \(other.table) AS \(alias) WHERE \(joins.joined(separator: " AND ")) AND "
      + "\(inner.text)))"
  }

  private mutating func compare(_ field: Int, _ comparison: Comparison) -> String {
    if let term = related.term(at: field) { return exists(term) }
    if case .moment(let comparison) = comparison { return compare(field, column(field, true), comparison) }
    return compare(field, column(field, false), comparison)
  }

  /// A field's column, with the order in which its values are compared.
  private func column(_ field: Int, _ isMoment: Bool) -> String {
    guard isMoment, shape.columns[field].storage == .text else { return shape.column(field) }
    return shape.column(field) + " COLLATE " + MomentCollation.name
  }

  private mutating func compare(_ field: Int, _ column: String, _ comparison: Comparison) -> String {
    switch comparison {
    case .eq(let value): return equal(field, column, value)
    case .ne(let value): return "(NOT \(equal(field, column, value)))"
    case .lt(let value): return order(field, column, .less, value)
    case .le(let value): return order(field, column, .lessOrEqual, value)
    case .gt(let value): return order(field, column, .greater, value)
    case .ge(let value): return order(field, column, .greaterOrEqual, value)
    case .between(let low, let high):
      let from = order(field, column, .greaterOrEqual, low)
      let to = order(field, column, .lessOrEqual, high)
      return "(\(from) AND \(to))"
    case .beginsWith(let prefix): return begins(field, Array(prefix.text.utf8))
    case .contains(let part): return contains(field, part)
    case .notContains(let part): return "(NOT \(contains(field, part)))"
    case .in(let list): return isIn(field, column, list)
    case .notIn(let list): return "(NOT \(isIn(field, column, list)))"
    case .attributeExists(let exists): return exists ? "(\(column) IS NOT NULL)" : "(\(column) IS NULL)"
    case .attributeType(let type): return hasType(field, type)
    case .size(let size): return hasSize(field, size)
    case .moment(let comparison): return compare(field, column, comparison)
    }
  }

  // MARK: Comparisons

  private mutating func equal(_ field: Int, _ column: String, _ value: JSONValue) -> String {
    if value.isNull { return "(\(column) IS NULL)" }
    guard let exact = ExactValue(value, shape.columns[field].storage) else { return Self.no }
    values.append(exact.value)
    return "(\(column) IS ?)"
  }

  private mutating func order(
    _ field: Int, _ column: String, _ relation: OrderRelation, _ value: JSONValue
  ) -> String {
    switch OrderBound(relation, value, shape.columns[field].storage) {
    case .nothing: return Self.no
    case .everything: return "(\(column) IS NOT NULL)"
    case .bound(let relation, let value):
      values.append(value)
      return "(\(column) IS NOT NULL AND \(column) \(relation.rawValue) ?)"
    }
  }

  private mutating func isIn(_ field: Int, _ column: String, _ list: [JSONValue]) -> String {
    let exact = list.compactMap { ExactValue($0, shape.columns[field].storage)?.value }
    let isNull = list.contains { $0.isNull } ? "(\(column) IS NULL)" : nil
    guard !exact.isEmpty else { return isNull ?? Self.no }
    values += exact
    let isListed = "(\(column) IS NOT NULL AND \(column) IN (\(SQLText.parameters(exact.count))))"
    return isNull.map { "(\($0) OR \(isListed))" } ?? isListed
  }

  private mutating func begins(_ field: Int, _ prefix: [UInt8]) -> String {
    guard shape.columns[field].storage == .text else { return Self.no }
    let column = shape.column(field)
    guard let last = prefix.last else { return "(\(column) IS NOT NULL)" }
    // The first bytes after all texts with the prefix: UTF-8 has no byte 255, so that one more always fits.
    values.append(.text(prefix))
    values.append(.text(Array(prefix.dropLast()) + [last &+ 1]))
    return "(\(column) IS NOT NULL AND \(column) >= ? AND \(column) < ?)"
  }

  private mutating func contains(_ field: Int, _ part: JSONValue) -> String {
    guard shape.columns[field].storage == .text, let text = part.string else { return Self.no }
    let column = shape.column(field)
    if text.utf8.isEmpty { return "(\(column) IS NOT NULL)" }
    values.append(.text(Array(text.utf8)))
    return "(\(column) IS NOT NULL AND instr(\(column), ?) > 0)"
  }

  private func hasType(_ field: Int, _ type: AttributeType) -> String {
    if type == .null { return "(\(shape.column(field)) IS NULL)" }
    let own: AttributeType =
      switch shape.columns[field].storage {
      case .text: .string
      case .integer, .real: .number
      case .boolean: .bool
      case .json: .map
      }
    return type == own ? "(\(shape.column(field)) IS NOT NULL)" : Self.no
  }

  private mutating func hasSize(_ field: Int, _ comparison: SizeComparison) -> String {
    guard shape.columns[field].storage == .text else { return Self.no }
    let column = shape.column(field)
    let size = "length(CAST(\(column) AS BLOB))"
    let condition: String
    switch comparison {
    case .eq(let other): condition = compareSize(size, "=", other)
    case .ne(let other): condition = compareSize(size, "<>", other)
    case .lt(let other): condition = compareSize(size, "<", other)
    case .le(let other): condition = compareSize(size, "<=", other)
    case .gt(let other): condition = compareSize(size, ">", other)
    case .ge(let other): condition = compareSize(size, ">=", other)
    case .between(let low, let high):
      condition = compareSize(size, ">=", low) + " AND " + compareSize(size, "<=", high)
    }
    return "(\(column) IS NOT NULL AND \(condition))"
  }

  private mutating func compareSize(_ size: String, _ relation: String, _ other: Int64) -> String {
    values.append(.integer(other))
    return "\(size) \(relation) ?"
  }
}
