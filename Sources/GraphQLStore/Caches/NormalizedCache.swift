/// Keeps records for a store: in memory, in a file, or wherever else.
///
/// A cache belongs to one store, which calls it from one thread at a time; that is why it need not be `Sendable`.
public protocol NormalizedCache: AnyObject {
  /// The record with a key, or nil. Counts as a use of it.
  func record(for key: CacheKey) throws -> CacheEntry?
  /// Applies all changes or, when it throws, none.
  /// - Returns: the fields that have another value now, and the records that are gone. A field that got the value it had
  ///   before is not among them.
  func apply(_ changes: [CacheChange], at time: Duration) throws -> CacheDifference
  /// The keys of all records, in any order.
  func keys() throws -> [CacheKey]
  /// Removes records until the bounds hold: first those last written before `expiry`, then the least recently used.
  /// - Parameters:
  ///   - expiry: nil when records do not grow old.
  ///   - isSpared: whether a record must stay, because a watcher shows it.
  /// - Returns: the keys that were removed.
  func evict(toRecords: Int, bytes: Int, expiry: Duration?, isSpared: (CacheKey) -> Bool) throws -> [CacheKey]
  /// Removes everything.
  func removeAll() throws
}

/// A record as a cache has it.
public struct CacheEntry: Sendable, Hashable {
  /// The fields.
  public var record: CacheRecord
  /// When it was last written, since 1970.
  public var written: Duration

  /// A record that was written at `written`.
  public init(_ record: CacheRecord, written: Duration) {
    self.record = record
    self.written = written
  }
}

/// One step of a write.
public enum CacheChange: Sendable {
  /// Sets these fields of the record and leaves its others; makes the record if there is none.
  case merge(CacheKey, CacheRecord)
  /// Removes the record.
  case remove(CacheKey)
}

/// What a write changed.
public struct CacheDifference: Sendable {
  /// Fields with another value, by record.
  public var changed: [CacheKey: [CacheField]] = [:]
  /// Records that are gone.
  public var removed: Set<CacheKey> = []

  /// Nothing.
  public init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool { changed.isEmpty && removed.isEmpty }
}
