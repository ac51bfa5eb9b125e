internal import MartletGraphQLClient
internal import MartletLiveQueries

extension SubscriptionStream {
  /// The snapshots of the query that `find` makes, from now on.
  static func snapshots<M: Model>(
    of store: DataStore, _ type: M.Type, _ find: (ModelMapping) throws(DataStoreError) -> WindowQuery
  ) -> SubscriptionStream where Element == DataStoreQuerySnapshot<M> {
    let core = SubscriptionCore(BufferPolicy())
    do throws(DataStoreError) {
      let room = try store.open()
      let mapping = try room.mapping(type)
      let query = try find(mapping)
      let decoded = room.streams.decodedRows(type, mapping)
      // Before the sync begins, which reads the whole outbox: the first snapshot does not wait for that.
      let consumer = room.streams.observe(query, decoded, core)
      room.sync?.observationBegins()
      if decoded.isShared {
        return SubscriptionStream(core: core) { _ in
          guard let (snapshot, isSynced) = room.streams.take(consumer) else { return nil }
          try decoded.prepare(snapshot)
          return DataStoreQuerySnapshot(
            items: DataStoreItems(snapshot.rows, decoded), isSynced: isSynced,
            changes: DataStoreChanges(snapshot.changes))
        }
      }
      let assembly = SnapshotAssembly(decoded)
      return SubscriptionStream(core: core) { _ in
        guard let (snapshot, isSynced) = room.streams.take(consumer) else { return nil }
        return DataStoreQuerySnapshot(
          items: DataStoreItems(try assembly.items(after: snapshot)), isSynced: isSynced,
          changes: DataStoreChanges(snapshot.changes))
      }
    } catch {
      core.leave(.error(error))
      return SubscriptionStream(core: core) { _ in throw error }
    }
  }
}
