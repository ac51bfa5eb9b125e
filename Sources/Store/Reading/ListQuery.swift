package import MartletJSON
package import MartletModels

/// Asks for a page of one model's records.
///
/// Records come in `order`, then by key, so that the order is total and a token stays valid while records come and go:
/// a page starts after the last record of the one before, whether that still exists or not. Null sorts first.
package struct ListQuery: Sendable {
  package var model: Int
  /// Fields that must have these values: an index's or a relation's fields.
  package var equal: [(field: Int, value: JSONValue)]
  /// What the records must match besides.
  package var filter: Predicate
  package var order: [SortOrder]
  /// Records of the page at most; the store's own limit caps it.
  package var limit: Int
  /// The page ends with the record by which its values come to this many bytes, about.
  package var bytes: Int
  /// The token of the page before.
  package var token: String?

  package init(
    model: Int, equal: [(field: Int, value: JSONValue)] = [], filter: Predicate = .all, order: [SortOrder] = [],
    limit: Int = 100, bytes: Int = .max, token: String? = nil
  ) {
    self.model = model
    self.equal = equal
    self.filter = filter
    self.order = order
    self.limit = limit
    self.bytes = bytes
    self.token = token
  }
}

/// A page of records.
package struct ListPage: Sendable, Equatable {
  package var records: [StoredRecord]
  /// Asks for the next page; nil when this is the last.
  package var token: String?

  package init(records: [StoredRecord], token: String?) {
    self.records = records
    self.token = token
  }
}

/// Asks for the first page of children of each of many parents, in one statement.
package struct ChildrenQuery: Sendable {
  /// The children's model.
  package var model: Int
  /// The child's fields that refer to the parent.
  package var reference: [Int]
  /// For each parent the values its children's reference fields have.
  package var parents: [[JSONValue]]
  package var filter: Predicate
  package var order: [SortOrder]
  /// Children of each parent at most. The token of a page continues as a `ListQuery` with the reference in `equal`.
  package var limit: Int

  package init(
    model: Int, reference: [Int], parents: [[JSONValue]], filter: Predicate = .all, order: [SortOrder] = [],
    limit: Int = 100
  ) {
    self.model = model
    self.reference = reference
    self.parents = parents
    self.filter = filter
    self.order = order
    self.limit = limit
  }
}
