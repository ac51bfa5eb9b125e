/// Remembers accepted tokens, so that equal ones are verified once while they are good.
///
/// A token is known by the SHA-256 of all its bytes, so that one with an altered signature is another token. Refused
/// tokens are not kept: their sender could fill the cache with them.
package struct TokenCache: Sendable {
  /// One verified token.
  package struct Entry: Sendable, Hashable {
    package let claims: TokenClaims
    /// The key that it was verified with.
    package let key: TokenKey
    /// When it stops being accepted, as time since 1970; nil for never.
    package let end: Duration?
    /// When it starts being accepted, as time since 1970: a clock may be set back.
    package let start: Duration?

    package init(claims: TokenClaims, key: TokenKey, end: Duration?, start: Duration? = nil) {
      self.claims = claims
      self.key = key
      self.end = end
      self.start = start
    }
  }

  private let capacity: Int
  private var entries: [[UInt8]: (entry: Entry, used: UInt64)] = [:]
  /// Digests in the order of use; those that were used again stand in it again, and the first place no longer counts.
  private var order: [(digest: [UInt8], used: UInt64)] = []
  private var first = 0
  private var clock: UInt64 = 0

  /// - Parameter capacity: How many tokens are kept; the ones that were not used for the longest time are dropped.
  package init(capacity: Int = TokenLimits().remembered) {
    self.capacity = max(0, capacity)
  }

  package var count: Int { entries.count }

  /// The entry of a token, where it is good at `now` (time since 1970). A token that has ended is dropped.
  package mutating func find(_ digest: [UInt8], at now: Duration) -> Entry? {
    guard let known = entries[digest]?.entry else { return nil }
    if let end = known.end, now >= end {
      entries[digest] = nil
      return nil
    }
    if let start = known.start, now < start { return nil }
    use(digest, known)
    return known
  }

  /// Remembers a token that was verified.
  package mutating func insert(_ entry: Entry, for digest: [UInt8]) {
    guard capacity > 0 else { return }
    use(digest, entry)
    while entries.count > capacity { dropOldest() }
  }

  /// Other keys are in force: tokens of keys that are no longer among them must be verified again, and will fail.
  package mutating func retain(keys: [TokenKey]) {
    let kept = Set(keys)
    entries = entries.filter { kept.contains($0.value.entry.key) }
    compact()
  }

  /// Other rules are in force: every token must be checked again.
  package mutating func removeAll() {
    entries = [:]
    compact()
  }

  private mutating func use(_ digest: [UInt8], _ entry: Entry) {
    clock += 1
    entries[digest] = (entry, clock)
    order.append((digest, clock))
    // Each use adds a place; what no longer counts is removed when it is the greater part.
    if order.count - first > 2 * capacity + 16 { compact() }
  }

  private mutating func dropOldest() {
    while first < order.count {
      let oldest = order[first]
      first += 1
      if entries[oldest.digest]?.used == oldest.used {
        entries[oldest.digest] = nil
        return
      }
    }
  }

  private mutating func compact() {
    order = order[first...].filter { entries[$0.digest]?.used == $0.used }
    first = 0
  }
}
