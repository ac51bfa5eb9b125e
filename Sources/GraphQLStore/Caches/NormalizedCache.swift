/// Keeps records for a store: in memory, in a file, or wherever else.
///
/// A cache belongs to one store, which calls it from one thread at a time; that is why it need not be `Sendable`.
public protocol NormalizedCache: AnyObject {
  /// The record with a key, or nil. Counts as a use of it.
  func record(for key: CacheKey) throws -> CacheEntry?
  /// Applies all changes or, when it throws, none.
  /// - Returns: what is different now. A field that got the value it had before is not.
  func apply(_ changes: [CacheChange], at time: Duration) throws -> CacheDifference
  /// The keys of all records, in any order.
  func keys() throws -> [CacheKey]
  /// How much is kept.
  var usage: CacheUsage { get }
  /// Removes records until the bounds hold: first those last written before `expiry`, then the least recently used.
  /// - Parameters:
  ///   - toRecords: how many may stay.
  ///   - bytes: how much the records that stay may take.
  ///   - expiry: nil when records do not grow old.
  ///   - isSpared: whether a record must stay, because a watcher shows it.
  /// - Returns: the keys that were removed.
  func evict(toRecords: Int, bytes: Int, expiry: Duration?, isSpared: (CacheKey) -> Bool) throws -> [CacheKey]
  /// Removes everything.
  func removeAll() throws
  /// Whether the records are there in the next run of the program. Then the store also keeps what it learned about
  /// types.
  var outlivesProcess: Bool { get }
}

extension NormalizedCache {
  /// No.
  public var outlivesProcess: Bool { false }
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

/// How much a cache holds.
public struct CacheUsage: Sendable, Hashable {
  /// Records.
  public var records: Int
  /// About how many bytes they take.
  public var bytes: Int

  /// So many records and bytes.
  public init(records: Int, bytes: Int) {
    self.records = records
    self.bytes = bytes
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
public struct CacheDifference: Sendable, Hashable {
  /// What changed in one record.
  public struct Change: Sendable, Hashable {
    /// The record.
    public var key: CacheKey
    /// The fields that have another value; nil when the record came or went as a whole.
    public var fields: [CacheField]?

    /// A change of some fields, or of all.
    public init(_ key: CacheKey, fields: [CacheField]?) {
      self.key = key
      self.fields = fields
    }
  }

  /// The changes in order; a record can have several.
  public var changes: [Change] = []

  /// Nothing.
  public init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool { changes.isEmpty }
}
