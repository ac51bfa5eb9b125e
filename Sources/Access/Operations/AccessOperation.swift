/// What a caller does with records of a model. The names are those of `@auth`'s `operations` argument; `read` there
/// stands for `get`, `list`, `listen`, `sync` and `search`.
package enum AccessOperation: String, Sendable, Hashable, CaseIterable {
  case create
  case update
  case delete
  /// One record by its key.
  case get
  /// Records by a filter or an index, relations included.
  case list
  /// Changes as they happen: subscriptions, live queries, the feed.
  case listen
  /// The records that a device keeps.
  case sync
  /// Records by their text.
  case search

  /// What `read` stands for.
  package static let reads: Set<AccessOperation> = [.get, .list, .listen, .sync, .search]

  /// The operations that a name stands for; nil when it is the name of none.
  package static func named(_ name: String) -> Set<AccessOperation>? {
    if name == "read" { return reads }
    return AccessOperation(rawValue: name).map { [$0] }
  }
}
