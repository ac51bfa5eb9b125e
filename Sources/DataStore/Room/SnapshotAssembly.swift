internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletRuntime

/// Makes typed snapshots from a window's: decodes the rows that changed and shares the rest with the snapshot before.
final class SnapshotAssembly<M: Model>: Sendable {
  private let mapping: ModelMapping
  private let items = Lock(SharedChunks<DataStoreItems<M>.Item>())

  init(_ mapping: ModelMapping) { self.mapping = mapping }

  /// The snapshot after the window's; for nil the same items again.
  func next(_ snapshot: WindowSnapshot?) throws(DataStoreError) -> DataStoreQuerySnapshot<M> {
    let changes = snapshot?.changes ?? ChangeSet()
    var decoded: [Int: DataStoreItems<M>.Item] = [:]
    for index in changes.insertions + changes.moves.map(\.to) + changes.updates {
      guard let row = snapshot?.rows[index] else { continue }
      decoded[index] = DataStoreItems<M>.Item(
        model: try mapping.model(row.record, as: M.self), isPending: row.isPending)
    }
    let chunks = items.withLock { items in
      var found = items
      let ready = decoded
      Self.apply(changes, ready, to: &found)
      items = found
      return found
    }
    return DataStoreQuerySnapshot(
      items: DataStoreItems(chunks: chunks), isSynced: true, changes: DataStoreChanges(changes))
  }

  private static func apply(
    _ changes: ChangeSet, _ decoded: [Int: DataStoreItems<M>.Item], to items: inout SharedChunks<DataStoreItems<M>.Item>
  ) {
    guard !changes.isEmpty else { return }
    changes.apply(to: &items) { index in
      guard let item = decoded[index] else { preconditionFailure("every changed index has been decoded") }
      return item
    }
  }
}
