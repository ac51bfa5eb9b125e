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
}

/// The values of a record's primary key, in the key's order.
package struct RecordKey: Sendable, Hashable {
  package var values: [JSONValue]

  package init(values: [JSONValue]) {
    self.values = values
  }
}

/// A field and whether it sorts upwards. Lists end with the primary key, so that their order is total.
package struct SortOrder: Sendable, Hashable {
  package var field: Int
  package var isAscending: Bool
  /// Whether the field is stored as JSON, and its values can be of several kinds.
  package var isJSON: Bool

  package init(field: Int, isAscending: Bool = true, isJSON: Bool = false) {
    self.field = field
    self.isAscending = isAscending
    self.isJSON = isJSON
  }
}
