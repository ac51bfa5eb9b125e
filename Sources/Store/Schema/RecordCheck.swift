internal import MartletJSON
internal import MartletModels
internal import MartletSQLite

/// Looks for records that a schema no longer allows, before a migration to it: values that its enums have lost,
/// embedded values without a member that is now required, lists with nulls that are no longer allowed, and records that
/// share what a one-to-one relation gives to one of them.
///
/// Each look reads all records of a model, so that it is done only for another schema than the one in force.
struct RecordCheck {
  /// Records that a message names at most.
  private static let named = 3

  private let database: Database
  private let catalogue: Catalogue

  init(_ database: Database, _ catalogue: Catalogue) {
    self.database = database
    self.catalogue = catalogue
  }

  /// - Throws: `StoreError.migration`, which names records and says what to do.
  func checkValues(_ shapes: [RecordShape], since before: [RecordShape]? = nil) throws {
    var refusals: [String] = []
    for shape in shapes {
      guard let model = stored(shape) else { continue }
      let earlier = before?.first { $0.tableName == shape.tableName }
      for (field, column) in shape.columns.enumerated() where column.domain != .any {
        if let earlier, earlier.columns.contains(where: { $0.name == column.name && $0.domain == column.domain }) {
          continue
        }
        let name = column.name.lowercased()
        guard let known = model.columns.first(where: { $0.name.lowercased() == name }),
          known.signature == column.signature
        else { continue }
        if let refusal = try problems(shape, field) { refusals.append(refusal) }
      }
    }
    if !refusals.isEmpty { throw StoreError(.migration, refusals.joined(separator: "; ")) }
  }

  private func problems(_ shape: RecordShape, _ field: Int) throws -> String? {
    let column = shape.columns[field]
    var count = 0
    var examples: [String] = []
    let keys = shape.key.map(shape.column).joined(separator: ", ")
    var condition = "\(shape.column(field)) IS NOT NULL"
    if case .names(let names) = column.domain {
      condition += " AND \(shape.column(field)) NOT IN (\(names.map(SQLText.literal).joined(separator: ", ")))"
    }
    let rows = try database.prepare(
      "SELECT \(shape.column(field)), \(keys) FROM \(shape.table) WHERE \(condition) ORDER BY \(keys)")
    while try rows.step() {
      guard let problem = column.domain.problem(try column.storage.read(rows, 0)) else { continue }
      count += 1
      if examples.count < Self.named {
        examples.append("\(shape.describe(try key(shape, rows, from: 1))): \(problem)")
      }
    }
    guard count > 0 else { return nil }
    let records = count == 1 ? "1 record" : "\(count) records"
    return "\(shape.name).\(column.field) holds values in \(records) that the schema no longer allows "
      + "(\(examples.joined(separator: "; "))\(count > examples.count ? "; …" : "")); "
      + "change the records first, or let the schema allow the values"
  }

  /// The shapes with the unique indexes that the records allow. One that they do not allow is made without uniqueness
  /// when `allowsDuplicates`, with a warning.
  ///
  /// - Throws: `StoreError.migration` otherwise, which names two records that share a value.
  func settleUniqueness(
    _ shapes: [RecordShape], allowsDuplicates: Bool
  ) throws -> (shapes: [RecordShape], warnings: [String]) {
    var settled = shapes
    var warnings: [String] = []
    for (position, shape) in shapes.enumerated() {
      guard let model = stored(shape) else { continue }
      for (index, wanted) in shape.indexes.enumerated() where wanted.isUnique {
        let isKept = model.indexes.contains { $0.name == wanted.name && $0.isUnique }
        let isReadable = wanted.fields.allSatisfy { field in
          model.columns.contains { $0.name.lowercased() == shape.columns[field].name.lowercased() }
        }
        guard !isKept, isReadable, let problem = try duplicates(shape, wanted) else { continue }
        guard allowsDuplicates, wanted.relation != nil else {
          throw StoreError(
            .migration,
            "\(problem); change or delete one of each, or serve them as they are for now (--allow-duplicates)")
        }
        settled[position].indexes[index].isUnique = false
        warnings.append("\(problem); it is not kept unique until they are repaired")
      }
    }
    return (settled, warnings)
  }

  private func duplicates(_ shape: RecordShape, _ index: RecordIndex) throws -> String? {
    let fields = index.fields.map(shape.column)
    let list = fields.joined(separator: ", ")
    let values = fields.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let groups = try database.prepare(
      "SELECT \(list) FROM \(shape.table) WHERE \(values) GROUP BY \(list) HAVING count(*) > 1 ORDER BY \(list)")
    var count = 0
    var first: [JSONValue] = []
    while try groups.step() {
      if count == 0 {
        for (position, field) in index.fields.enumerated() {
          first.append(try shape.columns[field].storage.read(groups, position))
        }
      }
      count += 1
    }
    guard count > 0 else { return nil }
    let same = fields.map { "\($0) = ?" }.joined(separator: " AND ")
    let keys = shape.key.map(shape.column).joined(separator: ", ")
    let rows = try database.prepare("SELECT \(keys) FROM \(shape.table) WHERE \(same) ORDER BY \(keys) LIMIT 2")
    for (position, field) in index.fields.enumerated() {
      try shape.columns[field].storage.bind(first[position], to: rows, at: position + 1)
    }
    var records: [String] = []
    while try rows.step() { records.append(shape.describe(try key(shape, rows, from: 0))) }
    let names = index.fields.map { shape.columns[$0].field }.joined(separator: ", ")
    let reason = index.relation.map { ", which @hasOne of \($0) allows for one record only" } ?? ""
    let found = count == 1 ? "1 value of \(shape.name).\(names) is" : "\(count) values of \(shape.name).\(names) are"
    return "\(found) in several records\(reason), "
      + "such as \(records.joined(separator: " and "))"
  }

  private func stored(_ shape: RecordShape) -> Catalogue.Model? {
    let name = shape.tableName.lowercased()
    return catalogue.models.first { $0.tableName.lowercased() == name }
  }

  private func key(_ shape: RecordShape, _ rows: Statement, from first: Int) throws -> RecordKey {
    var values: [JSONValue] = []
    for (index, field) in shape.key.enumerated() {
      values.append(try shape.columns[field].storage.read(rows, first + index))
    }
    return RecordKey(values: values)
  }
}
