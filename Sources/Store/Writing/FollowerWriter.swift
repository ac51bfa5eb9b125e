internal import MartletChangeFeed

/// Folds another store's groups as they are. It decides nothing: no term, no version, no horizon, no migration of its
/// own. Confined to the writer's executor.
final class FollowerWriter {
  let file: StoreFile
  private let limits: StoreLimits
  /// The shapes that readers and subscribers of this store use.
  private let wanted: [RecordShape]

  init(_ file: StoreFile, wanted: [RecordShape], limits: StoreLimits) {
    self.file = file
    self.wanted = wanted
    self.limits = limits
  }

  /// Folds one group and makes it durable.
  ///
  /// - Returns: its changes for subscribers; nil for a group that has been folded before.
  /// - Throws: `diverged` when the group does not continue this log, `damaged`, or what failed. Nothing was changed.
  func fold(_ group: LogGroup) throws(StoreError) -> ChangeBatch? {
    let before = file.folded.position
    if group.last <= before.head {
      try checkRepeated(group)
      return nil
    }
    guard group.first == before.head + 1 else {
      throw StoreError(
        .diverged, "the group begins at offset \(group.first), and this log ends at \(before.head)")
    }
    guard group.checksumBefore == before.checksum.value else {
      throw StoreError(
        .diverged, "the log up to offset \(before.head) is not the one that the group continues: checksums differ")
    }
    return try file.transaction {
      for (index, bytes) in group.entries.enumerated() {
        let offset = group.first + Int64(index)
        guard let entry = try file.coder.entry(bytes, offset: offset) else {
          throw StoreError(.diverged, "log entry \(offset) changes a model that the catalogue does not have")
        }
        try file.fold(entry, at: group.time)
      }
      guard file.folded.lineage.currentTerm == group.term else {
        throw StoreError(.diverged, "the group from offset \(group.first) on is of a term that the log did not begin")
      }
      try file.append(group)
      try file.sweep(since: before, limits)
      return try batch(group, byteCount: Int(file.folded.position.total - before.total))
    }
  }

  /// A group may be sent again after a restart; another one in its place is another history.
  private func checkRepeated(_ group: LogGroup) throws(StoreError) {
    do {
      guard let known = try file.log.checksum(at: group.last) else { return }
      if known.value == group.checksumAfter { return }
    } catch {
      throw StoreError(error)
    }
    throw StoreError(.diverged, "the log has other entries at offsets \(group.first) to \(group.last)")
  }

  /// What subscribers see of a group, under this store's own schema: nothing while that does not fit the data.
  private func batch(_ group: LogGroup, byteCount: Int) throws(StoreError) -> ChangeBatch {
    var changes: [Change] = []
    if file.catalogue.misfit(wanted) == nil {
      var shapes = wanted
      file.catalogue.number(&shapes)
      let coder = EntryCoder(shapes, revision: file.catalogue.revision)
      for (index, bytes) in group.entries.enumerated() {
        let offset = group.first + Int64(index)
        switch try coder.read(bytes, offset: offset, at: group.time) {
        case .change(let change): changes.append(change)
        case .rest(let rest):
          try changes.join(rest, offset: offset, endsTransaction: EntryCoder.endsTransaction(bytes))
        case .invisible, .unknownModel: break
        }
      }
    }
    return ChangeBatch(
      changes: changes, firstOffset: group.first, lastOffset: group.last, term: group.term, byteCount: byteCount)
  }
}
