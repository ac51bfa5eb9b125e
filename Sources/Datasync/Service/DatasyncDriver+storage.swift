internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient
internal import MartletVocabulary

// What outlives the process.

extension DatasyncDriver {
  /// Values are written at most this often: a node that changes all the time is not written all the time.
  private static let savingPause = Duration.seconds(1)

  /// Takes up the writes that an earlier process left. Once, before the first connection.
  func restoreQueue() {
    for write in storage?.queue() ?? [] {
      guard
        let (id, _) = try? machine.write(
          write.content, at: write.path, now: now, milliseconds: milliseconds, number: write.number,
          base: storage?.base(of: write.path) ?? .empty)
      else { continue }
      numbers[id] = write.number
    }
    if !numbers.isEmpty { need() }
  }

  /// A value has changed: it is written soon.
  func valueChanged(_ query: TreeClient.Query) {
    guard storage != nil else { return }
    dirty.insert(query)
    guard savingTimer == nil, case .automatic = configuration.cacheMode else { return }
    savingTimer = loop.schedule(at: now + Self.savingPause) { [weak self] in self?.saveValues() }
  }

  /// Writes the values that have changed.
  func saveValues() {
    savingTimer?.cancel()
    savingTimer = nil
    for query in dirty {
      if let value = machine.serverValue(of: query) { storage?.keep(value, of: query) }
    }
    dirty = []
  }

  func forget(_ query: TreeClient.Query) {
    dirty.remove(query)
    storage?.forget(query)
  }

  /// Notes the last number that was given to a write, so that no later process gives it again.
  func noteNumber() {
    let last = machine.lastNumber
    guard let storage, last != notedNumber else { return }
    notedNumber = last
    try? storage.set("last", "\(last)")
  }
}
