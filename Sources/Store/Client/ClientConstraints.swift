internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels

/// A relation by which records of a model name one of another.
package struct ClientReference: Sendable, Hashable {
  /// The number of the model whose records hold the other's key, and the relation's name.
  package var model: Int
  package var name: String
  /// The fields that hold it.
  package var fields: [Int]
  /// The other model's number.
  package var target: Int
  /// Whether each record must name one.
  package var isRequired: Bool

  package init(model: Int, name: String, fields: [Int], target: Int, isRequired: Bool) {
    self.model = model
    self.name = name
    self.fields = fields
    self.target = target
    self.isRequired = isRequired
  }
}

/// What local writes must fulfil, checked when they are made. The server's rows are taken as they are, so the file
/// itself has neither UNIQUE nor FOREIGN KEY.
struct ClientConstraints {
  private let references: [Int: [ClientReference]]
  /// By model: fields whose values no two records share.
  private let unique: [Int: [RecordIndex]]

  init(_ shapes: [RecordShape], _ references: [ClientReference]) {
    self.references = Dictionary(grouping: references, by: \.model)
    unique = Dictionary(shapes.map { ($0.model, $0.indexes.filter(\.isUnique)) }) { first, _ in first }
  }

  /// Whether records of a model must fulfil anything.
  func concern(_ model: Int) -> Bool { references[model] != nil || unique[model]?.isEmpty == false }

  /// Checks a record that is about to be stored. Values that it has already are not looked at again: they may be the
  /// server's.
  func check(
    _ record: Record, before: Record?, _ table: RecordTable, _ records: Records, _ queries: ClientQueries
  ) throws {
    let shape = table.shape
    for reference in references[shape.model] ?? [] {
      let values = reference.fields.map { record[$0] }
      if let before, values == reference.fields.map({ before[$0] }) { continue }
      if values.contains(where: { $0.isNull }) {
        guard reference.isRequired else { continue }
        throw StoreError(.referenced, "\(shape.name).\(reference.name) is required and names no record")
      }
      let key = RecordKey(values: values)
      let target = try records.table(reference.target)
      // A record may refer to itself.
      if target === table, key == table.shape.key(of: record) { continue }
      guard try target.get(key) == nil else { continue }
      throw StoreError(
        .referenced, "\(shape.name).\(reference.name) names \(target.shape.describe(key)), which is not in the store")
    }
    for index in unique[shape.model] ?? [] {
      let values = index.fields.map { record[$0] }
      if let before, values == index.fields.map({ before[$0] }) { continue }
      let key = table.shape.key(of: record)
      guard let other = try queries.related(shape.model, index.fields, values).first(where: { $0.key != key }) else {
        continue
      }
      let what = index.relation ?? index.fields.map { shape.columns[$0].field }.joined(separator: ", ")
      throw StoreError(.notUnique, "\(shape.describe(other.key)) has the same \(what) already")
    }
  }
}
