internal import MartletChangeFeed
internal import MartletJSONTree

/// Shows the changes of records to the listeners below `/models`.
struct RecordShowing {
  let service: TreeService

  /// Shows a batch, transaction by transaction.
  func apply(_ batch: ChangeBatch) {
    guard service.isListenedTo(RecordTree.key), let records = service.reads.records() else { return }
    var transaction: [RecordChange] = []
    for change in batch.changes {
      if let record = change.record { transaction.append(record) }
      if change.endsTransaction, !transaction.isEmpty {
        show(transaction, of: records, at: change.offset)
        transaction = []
      }
    }
    if !transaction.isEmpty { show(transaction, of: records, at: batch.lastOffset) }
  }

  private func show(_ changes: [RecordChange], of records: RecordTree, at offset: Int64) {
    var shown: [(listener: TreeListener, writes: [TreeWrite])] = []
    var places: [ObjectIdentifier: Int] = [:]
    for change in changes {
      guard let path = records.path(of: change) else { continue }
      service.forEachListener(concernedBy: path) { listener, relation in
        // Those above `/models` see what is stored.
        guard RecordTree.contains(listener.path),
          let node = records.value(of: change, at: listener.path, for: listener.caller)
        else { return }
        let place = places[ObjectIdentifier(listener)] ?? shown.count
        if place == shown.count {
          places[ObjectIdentifier(listener)] = place
          shown.append((listener, []))
        }
        switch relation {
        case .below(let relative): shown[place].writes.append(TreeWrite(path: relative, node: node))
        case .covering(let below): shown[place].writes.append(TreeWrite(path: .root, node: node.node(at: below)))
        }
      }
    }
    for (listener, writes) in shown { service.take(SharedChanges(writes, at: offset), for: listener, at: offset) }
  }
}
