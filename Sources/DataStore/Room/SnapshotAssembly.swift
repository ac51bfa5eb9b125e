internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletRuntime

/// Makes snapshots from a window's: decodes the rows that changed and shares the rest with the snapshot before. It does
/// not know the model's type: code that is generic over it costs several times as much.
final class SnapshotAssembly: Sendable {
  typealias Object = SharedObjects.Object

  private let rows: DecodedRows
  private let items = Lock(SharedObjects())

  init(_ rows: DecodedRows) { self.rows = rows }

  /// The items after a window's changes, and these; for nil the same items again.
  func next(_ snapshot: WindowSnapshot?) throws(DataStoreError) -> (items: SharedObjects, changes: ChangeSet) {
    guard let snapshot, !snapshot.changes.isEmpty else { return (items.withLock { $0 }, ChangeSet()) }
    return (try items(after: snapshot), snapshot.changes)
  }

  private func items(after snapshot: WindowSnapshot) throws(DataStoreError) -> SharedObjects {
    let changes = snapshot.changes
    if changes.updates.count == 1, changes.insertions.isEmpty, changes.moves.isEmpty, changes.deletions.isEmpty {
      let index = changes.updates[0]
      let item = try rows.item(snapshot.rows[index])
      // In place, so that nothing is copied when no snapshot before this one is kept.
      return items.withLock { items in
        items.replace(at: index, with: item)
        return items
      }
    }
    if changes.insertions.count == snapshot.rows.count {
      // A first snapshot, and one of a result that is another one altogether.
      let after = SharedObjects(try snapshot.rows.all.map { row throws(DataStoreError) in try rows.decode(row) })
      items.withLock { $0 = after }
      return after
    }
    let changed = try decoded(changes.insertions + changes.moves.map(\.to) + changes.updates, of: snapshot)
    return try items.withLock { items throws(DataStoreError) in
      var after = items
      try after.apply(changes) { index throws(DataStoreError) in
        guard let item = changed[index] else {
          throw DataStoreError(
            .storage, "a live query reports a change of row \(index), which its result does not have")
        }
        return item
      }
      items = after
      return after
    }
  }

  private func decoded(_ indices: [Int], of snapshot: WindowSnapshot) throws(DataStoreError) -> [Int: Object] {
    var found: [Int: Object] = [:]
    found.reserveCapacity(indices.count)
    // Of many rows at once, as in a first snapshot, few are another query's, too.
    let isShared = indices.count <= DecodedRows.most / 16
    for index in indices {
      found[index] = try isShared ? rows.item(snapshot.rows[index]) : rows.decode(snapshot.rows[index])
    }
    return found
  }
}

/// The rows of a model as values. A changed record is decoded once, however many live queries show it.
final class DecodedRows: Sendable {
  /// Rows kept: those of the last commits, some hundred bytes each.
  static let most = 256

  /// Whether a row has one value for all queries. One with relations can hold what it has loaded, which is one query's
  /// own.
  private let isShared: Bool
  private let make: @Sendable (LiveRow) throws(DataStoreError) -> SharedObjects.Object
  private let known = Lock<[RecordKey: (row: LiveRow, item: SharedObjects.Object)]>([:])

  init<M: Model>(_ type: M.Type, _ mapping: ModelMapping) {
    isShared = mapping.relations.isEmpty
    if let type = type as? any RowDecodable.Type, let columns = mapping.columns {
      make = Self.own(type, mapping, columns)
    } else {
      make = { row throws(DataStoreError) in
        DataStoreItems<M>.Item(model: try mapping.model(row.record, as: type), isPending: row.isPending)
      }
    }
  }

  /// The same for a type that reads itself.
  private static func own<Row: RowDecodable>(
    _ type: Row.Type, _ mapping: ModelMapping, _ columns: ColumnReader.Model
  ) -> @Sendable (LiveRow) throws(DataStoreError) -> SharedObjects.Object {
    let keys: [any CodingKey] = type.CodingKeys.allCases.map { $0 }
    return { row throws(DataStoreError) in
      var fields = ModelRow(ColumnReader(row.record, columns), keys: keys)
      do {
        return DataStoreItems<Row>.Item(model: try type.init(from: &fields), isPending: row.isPending)
      } catch {
        throw mapping.undecodable(error)
      }
    }
  }

  func item(_ row: LiveRow) throws(DataStoreError) -> SharedObjects.Object {
    guard isShared else { return try make(row) }
    if let found = known.withLock({ $0[row.key] }), found.row == row { return found.item }
    let item = try make(row)
    known.withLock { known in
      if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
      known[row.key] = (row, item)
    }
    return item
  }

  func decode(_ row: LiveRow) throws(DataStoreError) -> SharedObjects.Object { try make(row) }
}
