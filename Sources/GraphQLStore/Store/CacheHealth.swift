/// Whether a store's cache can be used.
///
/// After a failure it is off: nothing is read from it, since what it holds may be older than what the application was
/// shown. A write that succeeds turns it on again, and removes the records whose changes it missed.
struct CacheHealth {
  /// Records remembered while the cache is off; when more have changed, all are removed. 10,000 keys are about a
  /// megabyte.
  static let mostMissed = 10_000

  /// Why the cache is off.
  private(set) var failure: GraphQLStoreError?
  private var isReported = false
  /// When a write is tried again.
  private var retryAt = Duration.zero
  /// The records whose changes it missed; nil when it missed too many.
  private(set) var missed: Set<CacheKey>? = []

  var isOff: Bool { failure != nil }

  /// Whether the cache is worth a try.
  func mayWrite(at now: Duration) -> Bool { !isOff || now >= retryAt }

  /// The cache failed, or is off, and these changes are not in it.
  mutating func missed(_ changes: [CacheChange]) {
    for change in changes {
      switch change {
      case .merge(let key, _), .remove(let key): missed?.insert(key)
      }
    }
    if let count = missed?.count, count > Self.mostMissed { missed = nil }
  }

  /// The cache failed; the first failure is the one that is reported.
  mutating func failed(_ error: any Error, at now: Duration, pause: Duration) {
    retryAt = now + pause
    guard failure == nil else { return }
    failure = error as? GraphQLStoreError ?? GraphQLStoreError(.backend, "the cache failed", underlying: error)
    isReported = false
  }

  /// The failure, once.
  mutating func report() -> GraphQLStoreError? {
    guard let failure, !isReported else { return nil }
    isReported = true
    return failure
  }

  /// A write succeeded.
  mutating func recovered() {
    self = CacheHealth()
  }
}
