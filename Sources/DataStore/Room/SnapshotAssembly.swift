internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletRuntime

/// Makes typed snapshots from a window's: decodes the rows that changed and shares the rest with the snapshot before.
final class SnapshotAssembly<M: Model>: Sendable {
  private let mapping: ModelMapping
  private let items = Lock(SharedChunks<DataStoreItems<M>.Item>())

  init(_ mapping: ModelMapping) { self.mapping = mapping }

  /// The snapshot after the window's; for nil the same items again.
  func next(_ snapshot: WindowSnapshot?, isSynced: Bool) throws(DataStoreError) -> DataStoreQuerySnapshot<M> {
    let changes = snapshot?.changes ?? ChangeSet()
    var decoded: [Int: DataStoreItems<M>.Item] = [:]
    for index in changes.insertions + changes.moves.map(\.to) + changes.updates {
      guard let row = snapshot?.rows[index] else { continue }
      decoded[index] = DataStoreItems<M>.Item(
        model: try mapping.model(row.record, as: M.self), isPending: row.isPending)
    }
    let ready = decoded
    let chunks = try items.withLock { items throws(DataStoreError) in
      var found = items
      try Self.apply(changes, ready, to: &found)
      items = found
      return found
    }
    return DataStoreQuerySnapshot(
      items: DataStoreItems(chunks: chunks), isSynced: isSynced, changes: DataStoreChanges(changes))
  }

  private static func apply(
    _ changes: ChangeSet, _ decoded: [Int: DataStoreItems<M>.Item], to items: inout SharedChunks<DataStoreItems<M>.Item>
  ) throws(DataStoreError) {
    guard !changes.isEmpty else { return }
    try changes.apply(to: &items) { index throws(DataStoreError) in
      guard let item = decoded[index] else {
        throw DataStoreError(.storage, "a live query reports a change of row \(index), which its result does not have")
      }
      return item
    }
  }
}
