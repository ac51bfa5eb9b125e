/// Records over those of a cache: what a transaction has written so far, or an optimistic update.
struct Overlay {
  enum Patch {
    /// Sets these fields.
    case merged(CacheRecord)
    /// The record has these fields alone.
    case replaced(CacheRecord?)
  }
  private(set) var patches: [CacheKey: Patch] = [:]

  var isEmpty: Bool { patches.isEmpty }

  mutating func apply(_ changes: [CacheChange]) {
    for change in changes {
      switch change {
      case .remove(let key): patches[key] = .replaced(nil)
      case .merge(let key, let record):
        switch patches[key] {
        case nil: patches[key] = .merged(record)
        case .merged(var known)?:
          _ = known.merge(record)
          patches[key] = .merged(known)
        case .replaced(let known)?:
          var all = known ?? CacheRecord()
          _ = all.merge(record)
          patches[key] = .replaced(all)
        }
      }
    }
  }

  /// The changes that bring a cache to what the overlay shows.
  var changes: [CacheChange] {
    patches.flatMap { key, patch -> [CacheChange] in
      switch patch {
      case .merged(let record): [.merge(key, record)]
      case .replaced(nil): [.remove(key)]
      case .replaced(let record?): [.remove(key), .merge(key, record)]
      }
    }
  }

  /// What is seen of a record through the overlay. Its fields count as written `now`.
  func over(_ entry: CacheEntry?, _ key: CacheKey, now: Duration) -> CacheEntry? {
    switch patches[key] {
    case nil: return entry
    case .merged(let record)?:
      var all = entry?.record ?? CacheRecord()
      _ = all.merge(record)
      return CacheEntry(all, written: now)
    case .replaced(let record)?: return record.map { CacheEntry($0, written: now) }
    }
  }
}

/// A cache with overlays on it.
struct StoreView {
  let cache: any NormalizedCache
  /// From the lowest up.
  var overlays: [Overlay]
  /// The time of overlays' fields.
  let now: Duration
  /// Records written before do not count; nil when all do.
  let expiry: Duration?

  func record(_ key: CacheKey) throws -> CacheRecord? {
    var entry = try cache.record(for: key)
    for overlay in overlays { entry = overlay.over(entry, key, now: now) }
    guard let entry else { return nil }
    if let expiry, entry.written < expiry { return nil }
    return entry.record
  }
}
