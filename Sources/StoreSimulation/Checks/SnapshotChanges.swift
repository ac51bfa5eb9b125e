internal import MartletDataStore

extension DataStoreChanges {
  /// Why the changes, made to the rows of one snapshot, do not give those of the next; nil when they do.
  func difference(from before: [Row], to after: [Row]) -> String? {
    var items = before
    let gone = Set(deletions + moves.map(\.from))
    guard gone.allSatisfy({ items.indices.contains($0) }) else { return "changes name rows that are not there" }
    for index in gone.sorted(by: >) { items.remove(at: index) }
    for index in (insertions + moves.map(\.to)).sorted() {
      guard index <= items.count, index < after.count else { return "a row is inserted at \(index) of \(items.count)" }
      items.insert(after[index], at: index)
    }
    for index in updates where items.indices.contains(index) && index < after.count { items[index] = after[index] }
    return items == after ? nil : "changes lead to \(items), the snapshot has \(after)"
  }
}
