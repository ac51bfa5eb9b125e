internal import MartletJSON
internal import MartletModels

/// A relation with the positions of its fields.
struct MappedRelation: Sendable, Hashable {
  var name: String
  /// The other model's number.
  var target: Int
  /// Fields of the record whose values select…
  var ownFields: [Int]
  /// …the records of the other model that have them in these fields.
  var otherFields: [Int]
  /// Whether the record has the other's key.
  var holdsKey: Bool
  var isList: Bool
  /// Whether the type's field reads the other records when they are asked for.
  var isLazy: Bool
}

/// The names of a store's models, fields and relations, for predicates that lead from one model to another.
final class StoredModels: Sendable {
  struct Model: Sendable {
    var name: String
    var columns: [String]
    /// The columns of dates and times.
    var moments: Set<Int> = []
    var relations: [String: MappedRelation]

    func position(of field: String) -> Int? {
      columns.firstIndex { $0.utf8.elementsEqual(field.utf8) }
    }
  }

  let models: [Model]

  init(_ models: [Model]) { self.models = models }
}

/// How the values of a row become the members of the JSON that a model's type decodes.
struct RowFields: Sendable {
  indirect enum Content: Sendable {
    /// The field itself.
    case column(Int)
    /// The other's key, by the names of its fields.
    case reference([(name: String, column: Int)])
    /// What selects the records that have this one's key.
    case owner(model: String, [Int])
    /// The values of a related record, read with the row.
    case record(Int, RowFields)
    /// The values of all related records.
    case records(Int, RowFields)
    /// A relation that lies deeper than rows are read.
    case absent(isList: Bool)
  }

  struct Member: Sendable {
    var name: String
    var content: Content
  }

  var members: [Member]

  /// The row as JSON; fields without a value are null.
  func json(_ record: Record) -> JSONValue {
    var found: [JSONObject.Element] = []
    found.reserveCapacity(members.count)
    for member in members { found.append((member.name, value(of: member, in: record))) }
    return .object(JSONObject(distinct: found))
  }

  /// The value of a member; null for a field without one.
  func value(of member: Member, in record: Record) -> JSONValue {
    switch member.content {
    case .column(let position): return record[position]
    case .reference(let key):
      if key.contains(where: { record[$0.column].isNull }) { return .null }
      return .object(JSONObject(distinct: key.map { (key: $0.name, value: record[$0.column]) }))
    case .owner(let model, let columns):
      return RelationOwner(model: model, field: member.name, key: record.key(columns)).json
    case .record(let position, let fields):
      return record[position].array.map { fields.json(Record(values: $0)) } ?? .null
    case .records(let position, let fields):
      let rows = record[position].array ?? []
      return .array(rows.map { fields.json(Record(values: $0.array ?? [])) })
    case .absent(let isList): return isList ? [] : .null
    }
  }
}
