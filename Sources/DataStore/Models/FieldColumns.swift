internal import MartletJSON
internal import MartletModels
internal import MartletStore

/// Where the members of a row are among the columns of a statement, in the order of the type's fields.
final class FieldColumns: Sendable {
  /// A column of the table.
  struct Source: Sendable {
    var position: Int
    var storage: ColumnStorage
  }

  /// Where a field's value is, without its name: copying it counts no references.
  struct Place: Sendable {
    /// The column, or the number of the relation.
    var number: Int32
    /// That of a relation is `json`: none of the direct ways of reading reads it.
    var storage: ColumnStorage
    var isRelation = false

    /// That of a field which the row does not have.
    static let none = Place(number: -1, storage: .json)
  }

  /// A relation whose records are read when they are asked for: the row has the values that select them.
  final class Relation: Sendable {
    /// The names of the other's key, for a record that holds it; nil for one whose own key the others hold.
    let names: [String]?
    /// The model that has the relation, and its field.
    let name: RelationName
    let sources: [Source]
    /// The column, where it is one, of text: the usual case.
    let textColumn: Int32?

    init(names: [String]? = nil, model: String, field: String, sources: [Source]) {
      self.names = names
      name = RelationName(model: model, field: field)
      self.sources = sources
      let isText = sources.count == 1 && sources[0].storage == .text
      textColumn = isText ? Int32(truncatingIfNeeded: sources[0].position) : nil
    }
  }

  /// The fields' names, and where they are.
  let names: [String]
  let places: [Place]
  let relations: [Relation]
  /// How each column of the table is stored.
  let storages: [ColumnStorage]
  /// The column of text that selects the records of all relations to others that hold this record's key; nil when
  /// there is no such relation, or the key is something else. A row then needs one copy of the text.
  let sharedKey: Int?

  /// Nil when a member of the row needs other records.
  init?(_ rows: RowFields, _ shape: RecordShape) {
    func source(_ position: Int) -> Source { Source(position: position, storage: shape.columns[position].storage) }
    var places: [Place] = []
    var relations: [Relation] = []
    var owners: Set<[Int]> = []
    for member in rows.members {
      switch member.content {
      case .column(let position):
        let number = Int32(truncatingIfNeeded: position)
        places.append(Place(number: number, storage: shape.columns[position].storage))
        continue
      case .reference(let key):
        relations.append(
          Relation(
            names: key.map(\.name), model: shape.name, field: member.name, sources: key.map { source($0.column) }))
      case .owner(let model, let positions):
        relations.append(Relation(model: model, field: member.name, sources: positions.map(source)))
        owners.insert(positions)
      case .record, .records, .absent: return nil
      }
      let number = Int32(truncatingIfNeeded: relations.count - 1)
      places.append(Place(number: number, storage: .json, isRelation: true))
    }
    names = rows.members.map(\.name)
    self.places = places
    self.relations = relations
    storages = shape.columns.map(\.storage)
    let keys = owners.filter { $0.count == 1 && shape.columns[$0[0]].storage == .text }
    sharedKey = owners.count == 1 ? keys.first?[0] : nil
  }

  func place(named name: String) -> Place? {
    names.firstIndex { $0.utf8.elementsEqual(name.utf8) }.map { places[$0] }
  }
}

extension FieldColumns.Relation {
  /// What the row says of the relation. `text` is the value of the one column that selects the others, where it has
  /// been read already.
  func content(_ row: ColumnReader, text: String? = nil) throws -> RelationContent {
    if let owner = try owner(row, text: text) { return .owner(owner) }
    if let column = textColumn, let text = row.text(column: column) { return .key(RecordKey(.string(text))) }
    let key = try key(row)
    return key.hasNull ? .none : .key(key)
  }

  /// The record that the others belong to; nil for a relation whose key the record holds.
  func owner(_ row: ColumnReader, text: String?) throws -> RelationOwner? {
    guard names == nil else { return nil }
    if let text { return RelationOwner(name, key: RecordKey(.string(text))) }
    return RelationOwner(name, key: try key(row))
  }

  private func key(_ row: ColumnReader) throws -> RecordKey {
    if sources.count == 1 { return RecordKey(try row.json(sources[0])) }
    return RecordKey(values: try sources.map { try row.json($0) })
  }

  /// The same in the form in which rows hold it as JSON.
  func json(_ row: ColumnReader) throws -> JSONValue {
    switch try content(row) {
    case .none: return .null
    case .owner(let owner): return owner.json
    case .key(let key):
      return .object(JSONObject(distinct: zip(names ?? [], key.values).map { (key: $0, value: $1) }))
    }
  }

  /// Whether the row has no value for the relation.
  func isNull(_ row: ColumnReader) -> Bool {
    names != nil && sources.contains { row.isNull($0.position) }
  }
}
