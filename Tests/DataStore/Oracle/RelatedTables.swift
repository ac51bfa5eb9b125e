import MartletJSON
import MartletLiveQueries
import MartletModels
import MartletSQLite
import MartletSimulation
import MartletStore

/// Three models in a row, each of which belongs to one before it or to one of its own, with random fields: the store,
/// and a naive model of it that scans all rows for everything.
struct RelatedTables {
  /// Fields 0 to 4 are random, 5 is the parent, 6 the sibling that a record names, 7 the key.
  static let kinds: [RandomPredicates.Kind] = [.text, .whole, .real, .truth, .moment]
  static let moment = 4
  static let parent = 5
  static let sibling = 6
  static let key = 7
  static let fields = 8
  static let models = 3
  static let keys = 12

  let writer: ClientWriter
  var random: RandomPredicates
  private(set) var rows: [[Int64: LiveRow]] = Array(repeating: [:], count: models)

  init(seed: UInt64) throws {
    random = RandomPredicates(kinds: Self.kinds, seed: seed)
    writer = try ClientWriter(
      path: "/store", on: MemoryFiles(), shapes: (0..<Self.models).map(Self.shape), syncs: false)
  }

  private static func shape(_ model: Int) -> RecordShape {
    let storages: [ColumnStorage] = [.text, .integer, .real, .boolean, .text, .integer, .integer, .integer]
    var columns = storages.enumerated().map { number, storage in
      RecordColumn(
        name: "f\(number)", field: "f\(number)", storage: storage, signature: storage.rawValue, isRequired: false,
        defaultValue: .null)
    }
    columns[moment].isMoment = true
    return RecordShape(
      model: model, name: "M\(model)", tableName: "M\(model)", columns: columns, key: [key],
      indexes: [
        RecordIndex(name: "parent", fields: [parent], isUnique: false),
        RecordIndex(name: "sibling", fields: [sibling], isUnique: false),
        RecordIndex(name: "moment", fields: [moment], isUnique: false),
      ], cascades: [])
  }

  // MARK: Writes

  /// One to four writes in one transaction. Returns its changes.
  mutating func commit() throws -> [RowChange] {
    var writes: [(model: Int, key: Int64, record: Record?)] = []
    for _ in 0...random.count(below: 4) {
      let model = random.count(below: Self.models)
      let key = Int64(random.count(below: Self.keys))
      if rows[model][key] != nil, random.chance(4) {
        writes.append((model, key, nil))
      } else {
        writes.append((model, key, record(key)))
      }
    }
    let commit = try writer.transaction { transaction in
      for write in writes {
        if let record = write.record {
          try transaction.save(model: write.model, record)
        } else {
          _ = try transaction.delete(model: write.model, RecordKey(values: [.int(write.key)]))
        }
      }
    }
    for change in commit.changes {
      guard let key = (change.after ?? change.before)?.key.values[0].int else { continue }
      rows[change.model][key] = change.after
    }
    return commit.changes
  }

  private mutating func record(_ key: Int64) -> Record {
    var values = random.record().values
    for _ in 0..<2 { values.append(random.chance(4) ? .null : .int(Int64(random.count(below: Self.keys)))) }
    return Record(values: values + [.int(key)])
  }

  // MARK: Queries

  /// A query with conditions over relations, and in some cases related records in its rows.
  mutating func query() -> WindowQuery {
    let model = random.count(below: Self.models)
    var terms = RelatedTerms(fields: Self.fields)
    if random.chance(4) {
      var shown = relation(of: model)
      shown.content = shown.otherFields == [Self.key] ? .record : .records
      terms.shown = [shown]
    }
    let predicate = predicate(of: model, &terms, depth: 2)
    let orders = (0..<random.count(below: 3)).map { _ in
      SortOrder(field: random.count(below: 5), isAscending: random.chance(2))
    }
    return WindowQuery(
      model: model, predicate: predicate, order: RowOrder(orders, primaryKey: [Self.key], momentFields: [Self.moment]),
      offset: random.chance(2) ? 0 : random.count(below: 4), limit: random.chance(3) ? nil : random.count(below: 6),
      related: terms)
  }

  /// A random way from a model to another: to its parents, its children, or along its siblings.
  private mutating func relation(of model: Int) -> RelatedTerm {
    let related = RelatedTerms(fields: Self.fields)
    let choice = random.count(below: 4)
    switch choice {
    case 0 where model > 0:
      return RelatedTerm(
        model: model - 1, ownFields: [Self.parent], otherFields: [Self.key], content: .exists(.all), related: related)
    case _ where choice < 2 && model < Self.models - 1:
      return RelatedTerm(
        model: model + 1, ownFields: [Self.key], otherFields: [Self.parent], content: .exists(.all), related: related)
    case 2:
      return RelatedTerm(
        model: model, ownFields: [Self.key], otherFields: [Self.sibling], content: .exists(.all), related: related)
    case _:
      return RelatedTerm(
        model: model, ownFields: [Self.sibling], otherFields: [Self.key], content: .exists(.all), related: related)
    }
  }

  private mutating func predicate(of model: Int, _ terms: inout RelatedTerms, depth: Int) -> Predicate {
    var parts: [Predicate] = []
    for _ in 0...random.count(below: 2) {
      var part = random.predicate(depth: 1)
      if depth > 0, !random.chance(3) {
        var term = relation(of: model)
        var inner = RelatedTerms(fields: Self.fields)
        term.content = .exists(predicate(of: term.model, &inner, depth: depth - 1))
        term.related = inner
        part = .compare(field: terms.add(term), .eq(.bool(true)))
      }
      parts.append(random.chance(3) ? .not(part) : part)
    }
    return random.chance(2) ? .and(parts) : .or(parts)
  }

  // MARK: The naive evaluator

  func selected(_ query: WindowQuery) -> [LiveRow] {
    rows[query.model].values
      .filter { NaiveEvaluator.matches(query.predicate, extended($0.record, query.related.all)) }
      .map { $0.with(extended($0.record, query.related.shown)) }
      .sorted { query.order.compare($0.record, $1.record) < 0 }
  }

  func page(_ query: WindowQuery) -> [LiveRow] {
    let rest = selected(query).dropFirst(query.offset)
    return Array(query.limit.map { rest.prefix($0) } ?? rest)
  }

  private func extended(_ record: Record, _ terms: [RelatedTerm]) -> Record {
    Record(values: record.values + terms.map { value($0, record) })
  }

  private func value(_ term: RelatedTerm, _ record: Record) -> JSONValue {
    let others = rows[term.model].sorted { $0.key < $1.key }.map(\.value.record).filter { other in
      zip(term.ownFields, term.otherFields).allSatisfy { !record[$0].isNull && record[$0] == other[$1] }
    }
    switch term.content {
    case .exists(let condition):
      return .bool(others.contains { NaiveEvaluator.matches(condition, extended($0, term.related.all)) })
    case .record: return others.first.map { .array($0.values) } ?? .null
    case .records: return .array(others.map { .array($0.values) })
    }
  }
}
