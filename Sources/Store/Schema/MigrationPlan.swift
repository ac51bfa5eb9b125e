internal import MartletJSON

/// The steps from a folder's catalogue to a schema, found by their difference.
///
/// Adding is free; taking away needs `dropping`; changing a type or a key is refused. Nothing is deleted in silence.
struct MigrationPlan: Equatable {
  enum Step: Equatable {
    case createTable(RecordShape)
    case renameModel(table: String, to: String)
    /// The name that a model's data is stored under changes in case.
    case renameTable(String, to: String)
    /// The name that a field is stored under changes in case.
    case renameColumn(table: String, String, to: String)
    case addColumn(RecordShape, Int)
    /// A field became required: no record may lack it. Filled with its default when it has one.
    case require(RecordShape, Int)
    case relax(RecordShape, Int)
    case dropColumn(table: String, column: String)
    case createIndex(RecordShape, RecordIndex)
    case dropIndex(table: String, index: String)
    case dropTable(String)
  }

  private(set) var steps: [Step] = []

  /// Whether records of a model get fields that they did not have.
  func widens(_ shape: RecordShape) -> Bool {
    steps.contains { step in
      if case .addColumn(let widened, _) = step { widened.tableName.hasSameBytes(as: shape.tableName) } else { false }
    }
  }

  /// Plans the way from `catalogue` to `shapes`.
  ///
  /// - Throws: `StoreError.migration`, with every reason in its message.
  init(from before: Catalogue, to shapes: [RecordShape], dropping: Bool) throws(StoreError) {
    var refusals: [String] = []
    var losses: [String] = []
    Self.checkNames(shapes, &refusals)
    var catalogue = before
    if refusals.isEmpty { for shape in shapes { rename(&catalogue, to: shape) } }
    for shape in shapes {
      if let stored = catalogue.model(table: shape.tableName) {
        change(stored, to: shape, &refusals, &losses)
      } else {
        steps.append(.createTable(shape))
        for index in shape.indexes { steps.append(.createIndex(shape, index)) }
      }
    }
    for stored in catalogue.models where !shapes.contains(where: { $0.tableName == stored.tableName }) {
      losses.append("model \(stored.name) with all its records")
      steps.append(.dropTable(stored.tableName))
    }
    if !losses.isEmpty && !dropping {
      refusals.append(
        "the schema no longer has " + losses.joined(separator: ", ")
          + "; put it back, map it with @mapsTo if it was renamed, or allow dropping to delete the data")
    }
    if !refusals.isEmpty { throw StoreError(.migration, refusals.joined(separator: "; ")) }
  }

  /// Takes a model or field whose stored name differs only in case for the one that is there: the data stays.
  private mutating func rename(_ catalogue: inout Catalogue, to shape: RecordShape) {
    let folded = shape.tableName.lowercased()
    guard let position = catalogue.models.firstIndex(where: { $0.tableName.lowercased() == folded }) else { return }
    if catalogue.models[position].tableName != shape.tableName {
      steps.append(.renameTable(catalogue.models[position].tableName, to: shape.tableName))
      catalogue.models[position].tableName = shape.tableName
    }
    for column in shape.columns {
      let folded = column.name.lowercased()
      guard let field = catalogue.models[position].columns.firstIndex(where: { $0.name.lowercased() == folded }) else {
        continue
      }
      let old = catalogue.models[position].columns[field].name
      if old == column.name { continue }
      steps.append(.renameColumn(table: shape.tableName, old, to: column.name))
      catalogue.models[position].rename(old, to: column.name)
    }
  }

  private mutating func change(
    _ stored: Catalogue.Model, to shape: RecordShape, _ refusals: inout [String], _ losses: inout [String]
  ) {
    if stored.name != shape.name { steps.append(.renameModel(table: shape.tableName, to: shape.name)) }
    let key = shape.key.map { shape.columns[$0].name }
    if key != stored.key {
      refusals.append(
        "the primary key of \(shape.name) is (\(stored.key.joined(separator: ", "))) in the data folder and "
          + "(\(key.joined(separator: ", "))) in the schema; a key cannot change")
    }
    // Indexes go first: a column with an index cannot be dropped.
    for index in stored.indexes where !shape.indexes.contains(where: { Self.equal(index, $0, shape) }) {
      steps.append(.dropIndex(table: shape.tableName, index: index.name))
    }
    for (field, column) in shape.columns.enumerated() {
      guard let known = stored.columns.first(where: { $0.name == column.name }) else {
        steps.append(.addColumn(shape, field))
        continue
      }
      if known.signature != column.signature {
        refusals.append(
          "\(shape.name).\(column.field) is \(known.signature) in the data folder and \(column.signature) in the "
            + "schema; a type cannot change: add a field of the new type under another name and copy the values")
      }
      if column.isRequired && !known.isRequired { steps.append(.require(shape, field)) }
      if !column.isRequired && known.isRequired { steps.append(.relax(shape, field)) }
    }
    for column in stored.columns where !shape.columns.contains(where: { $0.name == column.name }) {
      losses.append("field \(shape.name).\(column.name)")
      steps.append(.dropColumn(table: shape.tableName, column: column.name))
    }
    for index in shape.indexes where !stored.indexes.contains(where: { Self.equal($0, index, shape) }) {
      steps.append(.createIndex(shape, index))
    }
  }

  private static func equal(_ stored: Catalogue.Index, _ index: RecordIndex, _ shape: RecordShape) -> Bool {
    stored.name == index.name && stored.isUnique == index.isUnique
      && stored.columns == shape.listedColumns(of: index)
  }

  /// SQLite does not distinguish upper from lower case in names; GraphQL does.
  private static func checkNames(_ shapes: [RecordShape], _ refusals: inout [String]) {
    var tables: [String: String] = [:]
    for shape in shapes {
      if let other = tables.updateValue(shape.name, forKey: shape.tableName.lowercased()) {
        refusals.append("models \(other) and \(shape.name) would share a table: names may not differ only in case")
      }
      var columns: [String: String] = [:]
      for column in shape.columns {
        if let other = columns.updateValue(column.field, forKey: column.name.lowercased()) {
          refusals.append(
            "\(shape.name).\(other) and \(shape.name).\(column.field) would share a column: names may not differ "
              + "only in case")
        }
      }
    }
  }
}

extension Catalogue.Model {
  fileprivate mutating func rename(_ old: String, to new: String) {
    func renamed(_ name: String) -> String { IndexedColumn.renamed(name, old, to: new) }
    key = key.map(renamed)
    for index in columns.indices { columns[index].name = renamed(columns[index].name) }
    for index in indexes.indices { indexes[index].columns = indexes[index].columns.map(renamed) }
  }
}
