internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeClient
internal import MartletVocabulary

// What outlives the process.

extension DatasyncDriver {
  /// Takes up the writes that an earlier process left. Once, before the first connection.
  func restoreQueue() {
    for write in values.storage?.queue() ?? [] {
      guard
        let (id, _) = try? machine.write(
          write.content, at: write.path, now: now, milliseconds: milliseconds, number: write.number,
          base: values.storage?.base(of: write.path) ?? .empty)
      else { continue }
      numbers[id] = write.number
    }
    if !numbers.isEmpty { need() }
  }

  /// Notes the last number that was given to a write, so that no later process gives it again.
  func noteNumber() {
    let last = machine.lastNumber
    guard let storage = values.storage, last != notedNumber else { return }
    notedNumber = last
    try? storage.set("last", "\(last)")
  }
}
