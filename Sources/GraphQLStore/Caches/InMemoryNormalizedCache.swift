/// Records in memory, in a table with a list through it from the most to the least recently used.
public final class InMemoryNormalizedCache: NormalizedCache {
  private struct Slot {
    var key: CacheKey
    var entry: CacheEntry
    var bytes: Int
    /// Neighbours in the order of use; `none` at the ends.
    var newer: Int
    var older: Int
  }
  private static let none = -1

  private var slots: [Slot] = []
  private var free: [Int] = []
  private var places: [CacheKey: Int] = [:]
  private var newest = none
  private var oldest = none
  private var bytes = 0

  /// An empty cache.
  public init() {}

  /// How many records there are, and about how many bytes they take.
  public var usage: CacheUsage { CacheUsage(records: places.count, bytes: bytes) }

  /// The record, which becomes the most recently used.
  public func record(for key: CacheKey) throws -> CacheEntry? {
    guard let place = places[key] else { return nil }
    use(place)
    return slots[place].entry
  }

  /// Applies all changes. Records that are written become the most recently used.
  public func apply(_ changes: [CacheChange], at time: Duration) throws -> CacheDifference {
    var difference = CacheDifference()
    for change in changes {
      switch change {
      case .merge(let key, let record):
        if let place = places[key] {
          var changed: [CacheField] = []
          var growth = 0
          slots[place].entry.record.merge(record, changed: &changed, growth: &growth)
          slots[place].entry.written = time
          slots[place].bytes += growth
          bytes += growth
          use(place)
          if !changed.isEmpty { difference.changes.append(.init(key, fields: changed)) }
        } else {
          insert(key, record, time)
          difference.changes.append(.init(key, fields: nil))
        }
      case .remove(let key):
        if remove(key) { difference.changes.append(.init(key, fields: nil)) }
      }
    }
    return difference
  }

  /// All keys.
  public func keys() throws -> [CacheKey] { Array(places.keys) }

  /// Removes what was written before `expiry`, then what was not used for longest.
  public func evict(
    toRecords records: Int, bytes limit: Int, expiry: Duration?, isSpared: (CacheKey) -> Bool
  ) throws -> [CacheKey] {
    var removed: [CacheKey] = []
    if let expiry {
      for (key, place) in places where slots[place].entry.written < expiry && !isSpared(key) { removed.append(key) }
      for key in removed { _ = remove(key) }
    }
    var place = oldest
    // Spared records move to the front, so that the next call does not meet them again; one round is enough.
    let last = newest
    while place != Self.none, place != last, places.count > records || bytes > limit {
      let (key, next) = (slots[place].key, slots[place].newer)
      if !isSpared(key) {
        _ = remove(key)
        removed.append(key)
      } else {
        use(place)
      }
      place = next
    }
    return removed
  }

  /// Removes everything.
  public func removeAll() throws {
    slots = []
    free = []
    places = [:]
    newest = Self.none
    oldest = Self.none
    bytes = 0
  }

  // MARK: The order of use

  private func insert(_ key: CacheKey, _ record: CacheRecord, _ time: Duration) {
    let size = record.footprint + key.text.footprint + MemoryLayout<Slot>.stride
    let slot = Slot(
      key: key, entry: CacheEntry(record, written: time), bytes: size, newer: Self.none, older: Self.none)
    let place: Int
    if let reused = free.popLast() {
      place = reused
      slots[place] = slot
    } else {
      place = slots.count
      slots.append(slot)
    }
    places[key] = place
    bytes += size
    link(place)
  }

  private func remove(_ key: CacheKey) -> Bool {
    guard let place = places.removeValue(forKey: key) else { return false }
    unlink(place)
    bytes -= slots[place].bytes
    slots[place].entry.record = CacheRecord()
    free.append(place)
    return true
  }

  private func use(_ place: Int) {
    if place == newest { return }
    unlink(place)
    link(place)
  }

  private func link(_ place: Int) {
    slots[place].newer = Self.none
    slots[place].older = newest
    if newest == Self.none { oldest = place } else { slots[newest].newer = place }
    newest = place
  }

  private func unlink(_ place: Int) {
    let (newer, older) = (slots[place].newer, slots[place].older)
    if newer == Self.none { newest = older } else { slots[newer].older = older }
    if older == Self.none { oldest = newer } else { slots[older].newer = newer }
  }
}
