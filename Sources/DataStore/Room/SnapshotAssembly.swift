internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletRuntime
internal import MartletStore

/// Makes snapshots from a window's, of a model whose items are each query's own: decodes the rows that changed and
/// shares the rest with the snapshot before. It does not know the model's type: code that is generic over it costs
/// several times as much.
final class SnapshotAssembly: Sendable {
  private let rows: DecodedRows
  private let items = Lock(SharedObjects())

  init(_ rows: DecodedRows) { self.rows = rows }

  /// The items after a window's changes.
  func items(after snapshot: WindowSnapshot) throws(DataStoreError) -> SharedObjects {
    let changes = snapshot.changes
    if changes.isEmpty { return items.withLock { $0 } }
    if changes.insertions.count == snapshot.rows.count {
      // A first snapshot, and one of a result that is another one altogether.
      let after = SharedObjects(try rows.decode(snapshot.rows.all))
      items.withLock { $0 = after }
      return after
    }
    let indices = snapshot.changedIndices
    let objects = try rows.decode(ContiguousArray(indices.map { snapshot.rows[$0] }))
    let changed = Dictionary(zip(indices, objects)) { first, _ in first }
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
}

extension WindowSnapshot {
  /// The indices of rows that are not where, or what, they were.
  fileprivate var changedIndices: [Int] { changes.insertions + changes.moves.map(\.to) + changes.updates }

  /// The rows of which nothing has been made yet, where there may be such: those that have changed, and those that the
  /// store has read again.
  fileprivate var unmadeRows: ContiguousArray<LiveRow> {
    if hasEqualRows || changes.insertions.count == rows.count { return rows.unmade }
    return ContiguousArray(changedIndices.lazy.map { rows[$0] }.filter { !$0.uncounted.isMade })
  }
}

/// The rows of a model as values. A row that several live queries show is decoded once, and holds its value.
final class DecodedRows: Sendable {
  typealias Object = SharedObjects.Object

  /// The model's number.
  let model: Int
  /// Whether a row has one value for all queries, which it holds. One with relations can hold what it has loaded, which
  /// is one query's own.
  let isShared: Bool
  /// Whether the model reads itself from a row, in a few instructions for each field.
  private let readsItself: Bool
  private let make: @Sendable (ContiguousArray<LiveRow>) throws(DataStoreError) -> [Object]
  /// Rows are given their values within it.
  private let lock = Lock(true)

  init<M: Model>(_ type: M.Type, _ mapping: ModelMapping, isShared: Bool) {
    self.isShared = isShared
    model = mapping.shape.model
    if let type = type as? any RowDecodable.Type, let columns = mapping.columns {
      readsItself = true
      make = Self.own(type, mapping, columns)
    } else {
      readsItself = false
      make = { rows throws(DataStoreError) in
        var objects: [Object] = []
        objects.reserveCapacity(rows.count)
        for row in rows {
          objects.append(
            DataStoreItems<M>.Item(model: try mapping.model(row.record, as: type), isPending: row.isPending))
        }
        return objects
      }
    }
  }

  /// The same for a type that reads itself.
  private static func own<Row: RowDecodable>(
    _ type: Row.Type, _ mapping: ModelMapping, _ columns: ColumnReader.Model
  ) -> @Sendable (ContiguousArray<LiveRow>) throws(DataStoreError) -> [Object] {
    let keys: [any CodingKey] = type.CodingKeys.allCases.map { $0 }
    return { rows throws(DataStoreError) in
      var rows = ModelRows(ModelRow(ColumnReader(columns), keys: keys), rows)
      do {
        return try type.items(of: &rows)
      } catch {
        throw mapping.undecodable(error)
      }
    }
  }

  /// The values of rows, made for the caller alone.
  func decode(_ rows: ContiguousArray<LiveRow>) throws(DataStoreError) -> [Object] { try make(rows) }

  /// Gives rows that the store is reading their values, when that is quick: half of what a value costs is to bring its
  /// row to another core. A row that does not decode is left to `prepare`, which can report it.
  func prepareAhead(_ rows: ContiguousArray<LiveRow>) {
    guard isShared, readsItself, let objects = try? make(rows) else { return }
    give(rows, objects)
  }

  /// Gives the rows of a snapshot their values, unless they have them.
  func prepare(_ snapshot: WindowSnapshot) throws(DataStoreError) {
    let new = lock.withLock { _ in snapshot.unmadeRows }
    if !new.isEmpty { give(new, try make(new)) }
  }

  private func give(_ rows: ContiguousArray<LiveRow>, _ objects: [Object]) {
    lock.withLock { _ in
      for place in rows.indices { rows.uncounted(at: place).make(objects[place]) }
    }
  }

  /// The value of a row that has been prepared. Nothing is decoded here, where a failure could not be reported.
  func known(_ row: LiveRow) -> Object {
    guard let object = lock.withLock({ _ in row.made }) else {
      preconditionFailure("every row of a snapshot is given its value before the snapshot is handed out")
    }
    return object
  }
}
