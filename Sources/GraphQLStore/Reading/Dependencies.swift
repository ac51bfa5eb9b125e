/// What a result was read from: records, and of each the selections whose fields were looked at.
struct Dependencies {
  /// A record's selections; none means that any change of the record counts.
  struct Reads {
    /// Nearly always the only one, hence not in an array.
    var first: TypedSelection?
    var others: [TypedSelection] = []
    var isWhole = false
  }
  private(set) var records: [CacheKey: Reads] = [:]

  mutating func add(_ key: CacheKey, _ selection: TypedSelection?) {
    guard let place = records.index(forKey: key) else {
      records[key] = Reads(first: selection, isWhole: selection == nil)
      return
    }
    guard let selection else {
      records.values[place].isWhole = true
      return
    }
    let known = records.values[place]
    if known.first === selection || known.others.contains(where: { $0 === selection }) { return }
    if known.first == nil {
      records.values[place].first = selection
    } else {
      records.values[place].others.append(selection)
    }
  }

  func isTouched(by change: CacheDifference.Change) -> Bool {
    guard let reads = records[change.key] else { return false }
    guard let fields = change.fields, !reads.isWhole else { return true }
    return reads.first?.reads(fields) == true || reads.others.contains { $0.reads(fields) }
  }
}
