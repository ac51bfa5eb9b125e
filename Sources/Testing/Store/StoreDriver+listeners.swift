internal import MartletJSON
internal import MartletLiveQueries
internal import MartletModels

extension StoreDriver {
  mutating func listen(_ reader: StoreStepReader) throws(StoreDriverError) {
    let (name, query) = (try reader.text("listener"), try reader.query())
    guard !listeners.contains(where: { $0.name == name }) else {
      throw StoreDriverError("there is a listener \(name) already")
    }
    let id = live.add(query)
    listeners.append(
      Listener(
        name: name, query: id, model: query.model, isFromCache: isFromCache(query.model),
        isSynced: isSynced(query.model)))
    fill(id)
    snapshot(listeners.count - 1)
  }

  /// Gives every listener that a step concerns its snapshot.
  mutating func show() {
    let met = live.apply(store.changes())
    for query in met { fill(query) }
    for index in listeners.indices {
      let model = listeners[index].model
      let (isFromCache, isSynced) = (isFromCache(model), isSynced(model))
      let isMarked = listeners[index].isFromCache != isFromCache || isSynced && !listeners[index].isSynced
      (listeners[index].isFromCache, listeners[index].isSynced) = (isFromCache, isSynced)
      if isMarked || met.contains(listeners[index].query) { snapshot(index, isOwed: isMarked) }
    }
  }

  private mutating func fill(_ query: LiveQueryID) {
    let store = store
    live.update(
      query,
      window: { window in
        while let request = window.request { window.fill(store.rows(window.query, request), for: request) }
      })
  }

  private mutating func snapshot(_ index: Int, isOwed: Bool = true) {
    let listener = listeners[index]
    var taken: WindowSnapshot?
    var rows = VisibleRows()
    live.update(
      listener.query,
      window: { window in
        taken = window.take()
        rows = window.rows
      })
    guard taken != nil || isOwed else { return }
    let changes = taken?.changes ?? ChangeSet()
    func list(_ indices: [Int]) -> JSONValue { .array(indices.map { .int(Int64($0)) }) }
    tell(
      "snapshot",
      [
        "listener": .string(listener.name),
        "items": .array(
          rows.map { ["record": store.json($0.record, listener.model), "isPending": .bool($0.isPending)] }),
        "isFromCache": .bool(listener.isFromCache), "isSynced": .bool(listener.isSynced),
        "inserted": list(changes.insertions), "deleted": list(changes.deletions), "updated": list(changes.updates),
        "moved": .array(changes.moves.map { list([$0.from, $0.to]) }),
      ])
  }
}
