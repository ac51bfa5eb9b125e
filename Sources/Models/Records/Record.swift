package import MartletJSON

/// The values of one record, by field position in its model. An absent value is `null`.
package struct Record: Sendable, Hashable {
  package var values: [JSONValue]

  package init(values: [JSONValue]) {
    self.values = values
  }

  package subscript(field: Int) -> JSONValue {
    field < values.count ? values[field] : .null
  }

  /// The key that consists of these fields.
  package func key(_ fields: [Int]) -> RecordKey {
    fields.count == 1 ? RecordKey(self[fields[0]]) : RecordKey(values: fields.map { self[$0] })
  }
}

/// The values of a record's primary key, in the key's order.
package struct RecordKey: Sendable, Hashable {
  /// A key of one field, as most are, needs no list.
  private enum Content: Hashable {
    case one(JSONValue)
    case several([JSONValue])
  }

  private let content: Content

  /// A key of one field.
  package init(_ value: JSONValue) { content = .one(value) }

  /// A key of any number of fields.
  package init(values: [JSONValue]) { content = values.count == 1 ? .one(values[0]) : .several(values) }

  /// The values of the fields.
  package var values: [JSONValue] {
    switch content {
    case .one(let value): [value]
    case .several(let values): values
    }
  }

  /// How many fields it has.
  package var count: Int {
    switch content {
    case .one: 1
    case .several(let values): values.count
    }
  }

  /// Whether one of the values is null.
  package var hasNull: Bool {
    switch content {
    case .one(let value): value.isNull
    case .several(let values): values.contains { $0.isNull }
    }
  }

  /// The value of the key's field at a place; null beyond the last.
  package subscript(place: Int) -> JSONValue {
    switch content {
    case .one(let value): place == 0 ? value : .null
    case .several(let values): place < values.count ? values[place] : .null
    }
  }
}

/// A field and whether it sorts upwards. Lists end with the primary key, so that their order is total.
package struct SortOrder: Sendable, Hashable {
  package var field: Int
  package var isAscending: Bool
  /// Whether the field is stored as JSON, and its values can be of several kinds.
  package var isJSON: Bool
  /// Whether the field holds dates or times, which are ordered by the moments that they mean. Texts of one moment are
  /// equal then, so that a key follows as text.
  package var isMoment = false

  package init(field: Int, isAscending: Bool = true, isJSON: Bool = false) {
    self.field = field
    self.isAscending = isAscending
    self.isJSON = isJSON
  }
}
