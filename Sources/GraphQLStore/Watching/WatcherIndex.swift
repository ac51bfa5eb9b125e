/// Which watchers read which records, so that a write asks only those that read what it changed.
struct WatcherIndex {
  private struct Watcher {
    let signal: WatchSignal
    var dependencies = Dependencies()
    var isRaised = false
  }
  private var watchers: [Int: Watcher] = [:]
  private var readers: [CacheKey: [Int]] = [:]
  private var next = 0
  /// How many times a watcher was asked whether a change concerns it; tests count with it.
  private(set) var asked = 0

  var count: Int { watchers.count }
  var records: some Sequence<CacheKey> { readers.keys }

  func isRead(_ key: CacheKey) -> Bool { readers[key] != nil }

  mutating func add(_ signal: WatchSignal) -> Int {
    next += 1
    watchers[next] = Watcher(signal: signal)
    return next
  }

  mutating func remove(_ number: Int) {
    guard let watcher = watchers.removeValue(forKey: number) else { return }
    for key in watcher.dependencies.records.keys { forget(key, number) }
  }

  /// The watcher has read anew.
  mutating func update(_ number: Int, _ dependencies: Dependencies) {
    guard let old = watchers[number]?.dependencies else { return }
    for key in old.records.keys where dependencies.records[key] == nil { forget(key, number) }
    for key in dependencies.records.keys where old.records[key] == nil { readers[key, default: []].append(number) }
    watchers[number]?.dependencies = dependencies
    watchers[number]?.isRaised = false
  }

  private mutating func forget(_ key: CacheKey, _ number: Int) {
    guard let place = readers.index(forKey: key) else { return }
    if readers.values[place].count == 1 {
      readers.remove(at: place)
    } else if let at = readers.values[place].firstIndex(of: number) {
      readers.values[place].swapAt(at, readers.values[place].count - 1)
      readers.values[place].removeLast()
    }
  }

  /// Raises the signals of watchers that read something of `changes`, each once.
  mutating func raise(_ changes: [CacheDifference.Change]) -> [CheckedContinuation<Void, Never>] {
    if watchers.isEmpty { return [] }
    var waiting: [CheckedContinuation<Void, Never>] = []
    for change in changes {
      guard let numbers = readers[change.key] else { continue }
      for number in numbers where watchers[number]?.isRaised == false {
        asked += 1
        guard watchers[number]?.dependencies.isTouched(by: change) == true else { continue }
        watchers[number]?.isRaised = true
        if let waiter = watchers[number]?.signal.raise() { waiting.append(waiter) }
      }
    }
    return waiting
  }
}
