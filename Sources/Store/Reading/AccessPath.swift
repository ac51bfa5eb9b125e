internal import MartletJSON
internal import MartletModels

/// The way to a list's rows: the table in the order of its key, or an index, and which conditions it seeks by.
///
/// It is chosen here and not by SQLite, because a scan is bounded and continued by the rows it has looked at: the
/// statement returns every row that the seek finds, with a column that says whether the row matches the rest.
struct AccessPath {
  /// The index; nil for the table itself.
  var index: RecordIndex?
  /// Conditions that the seek answers, besides the query's own equalities.
  var seek: [Predicate] = []
  /// What is decided for each row.
  var rest: [Predicate] = []
  /// A field whose values are sought one after the other, in the order of the rows.
  var segment: (field: Int, values: [JSONValue])?
  /// The order of the rows that one seek finds, by the index's remaining fields and the key: total.
  var order: [SortOrder] = []
  /// The values of fields that have one in every row that matches.
  var constants: [Int: JSONValue] = [:]
  /// Whether the rows come in the query's order; otherwise they are sorted here.
  var isOrdered = false
  /// Leading fields of the index that have one value, or one after the other.
  private var fixed = 0
  /// Whether the field after them has a range.
  private var hasRange = false

  /// The best path for a query. `order` is the query's total order. An `in` of more than `soughtValues` values is
  /// decided row by row.
  init(_ query: ListQuery, order: [SortOrder], soughtValues: Int, _ shape: RecordShape) throws(StoreError) {
    let conditions = Conditions(query, shape)
    var best = AccessPath(nil, conditions, order, soughtValues, shape)
    for index in shape.indexes {
      let path = AccessPath(index, conditions, order, soughtValues, shape)
      if best.isWorse(than: path) { best = path }
    }
    self = best
  }

  /// More equalities find fewer rows; then rows in order end a page early; then a range.
  private func isWorse(than other: AccessPath) -> Bool {
    if fixed != other.fixed { return fixed < other.fixed }
    if isOrdered != other.isOrdered { return other.isOrdered }
    return !hasRange && other.hasRange
  }

  private init(
    _ index: RecordIndex?, _ conditions: Conditions, _ wanted: [SortOrder], _ soughtValues: Int, _ shape: RecordShape
  ) {
    self.index = index
    constants = conditions.constants
    let fields = (index?.fields ?? []) + shape.key.filter { index?.fields.contains($0) != true }
    var taken: Set<Int> = []
    var remaining = fields[...]
    while let field = remaining.first {
      if conditions.equal.contains(field) {
      } else if let part = conditions.equalities[field] {
        seek.append(conditions.parts[part])
        taken.insert(part)
      } else if segment == nil, let (part, values) = conditions.lists[field], values.count <= soughtValues {
        segment = (field, values)
        taken.insert(part)
      } else {
        break
      }
      remaining = remaining.dropFirst()
      fixed += 1
    }
    if let field = remaining.first {
      for part in conditions.ranges[field] ?? [] {
        seek.append(conditions.parts[part])
        taken.insert(part)
        hasRange = true
      }
    }
    rest = conditions.parts.indices.filter { !taken.contains($0) }.map { conditions.parts[$0] }
    // Matching rows have one value in every field with an equality, so that it does not take part in their order.
    let isFixed = { (field: Int) in conditions.constants[field] != nil }
    let asked = wanted.filter { !isFixed($0.field) }
    let isAscending = asked.last?.isAscending ?? wanted.last?.isAscending ?? true
    let given = (segment.map { [$0.field] } ?? []) + remaining.filter { !isFixed($0) }
    isOrdered = asked.allSatisfy { $0.isAscending == isAscending } && asked.map(\.field) == given
    order = remaining.map { SortOrder(field: $0, isAscending: isOrdered ? isAscending : true) }
    if let found = segment {
      let storage = shape.columns[found.field].storage
      let values = found.values.sorted { StoredOrder.compare($0, $1, storage) < 0 }
      segment?.values = isOrdered && !isAscending ? values.reversed() : values
    }
  }
}

/// A query's conditions by field, as an index may use them.
private struct Conditions {
  /// Fields with an equality of the query's own.
  var equal: Set<Int> = []
  /// The values of fields with an equality, in their columns' own form.
  var constants: [Int: JSONValue] = [:]
  /// The filter's conjuncts.
  var parts: [Predicate]
  /// Positions in `parts`, by field.
  var equalities: [Int: Int] = [:]
  var lists: [Int: (part: Int, values: [JSONValue])] = [:]
  var ranges: [Int: [Int]] = [:]

  init(_ query: ListQuery, _ shape: RecordShape) {
    equal = Set(query.equal.map(\.field))
    for (field, value) in query.equal { constants[field] = value }
    parts = PredicateSQL.conjuncts(query.filter)
    // The indexes have the order of texts, so that a moment is sought among the texts it may have.
    parts += parts.flatMap { $0.textsOfMoments(shape) }
    for (position, part) in parts.enumerated() {
      guard case .compare(let field, let comparison) = part, shape.columns.indices.contains(field),
        !equal.contains(field)
      else { continue }
      let storage = shape.columns[field].storage
      guard storage != .json else { continue }
      switch comparison {
      case .eq(let value) where equalities[field] == nil && !value.isNull:
        guard let own = Self.distinct([value], storage).first else { continue }
        equalities[field] = position
        constants[field] = own
      case .in(let values) where lists[field] == nil:
        lists[field] = (position, Self.distinct(values, storage))
      case .lt, .le, .gt, .ge, .between, .beginsWith: ranges[field, default: []].append(position)
      default: break
      }
    }
  }

  /// The values that a column can hold, in its own form, each once.
  private static func distinct(_ values: [JSONValue], _ storage: ColumnStorage) -> [JSONValue] {
    var found: [JSONValue] = []
    for value in values {
      let own: JSONValue
      if value.isNull {
        own = .null
      } else {
        guard let exact = ExactValue(value, storage)?.value else { continue }
        switch exact {
        case .column(let value, _): own = value
        case .text(let bytes): own = .string(String(decoding: bytes, as: UTF8.self))
        case .integer(let number): own = storage == .boolean ? .bool(number != 0) : .int(number)
        case .real(let number): own = .double(number)
        }
      }
      if !found.contains(where: { StoredOrder.compare($0, own, storage) == 0 }) { found.append(own) }
    }
    return found
  }
}
