/// What a result was read from: records, and of each the selections whose fields were looked at.
struct Dependencies {
  /// A record's selections; none means that any change of the record counts.
  struct Reads {
    var selections: [TypedSelection]
    var isWhole: Bool
  }
  private(set) var records: [CacheKey: Reads] = [:]

  mutating func add(_ key: CacheKey, _ selection: TypedSelection?) {
    guard var known = records[key] else {
      records[key] = Reads(selections: selection.map { [$0] } ?? [], isWhole: selection == nil)
      return
    }
    if let selection {
      if known.selections.contains(where: { $0 === selection }) { return }
      known.selections.append(selection)
    } else {
      known.isWhole = true
    }
    records[key] = known
  }

  func isTouched(by change: CacheDifference.Change) -> Bool {
    guard let reads = records[change.key] else { return false }
    guard let fields = change.fields, !reads.isWhole else { return true }
    return reads.selections.contains { $0.reads(fields) }
  }
}
