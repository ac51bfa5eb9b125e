/// Identities that an authorizer accepted, by the digest of the credential, while its answers may be used again.
///
/// Two generations hold what was used last: when the young one is full it becomes the old one, and what was in the old
/// one and not used since is dropped. So the size is bounded without an order to keep.
package struct AuthorizerCache: Sendable {
  private struct Entry: Sendable {
    var identity: Identity
    /// When it ends, as time since 1970, and when it was made: a clock may be set back.
    var end: Duration
    var start: Duration
  }

  private let capacity: Int
  private var young: [[UInt8]: Entry] = [:]
  private var old: [[UInt8]: Entry] = [:]

  /// - Parameter capacity: How many answers are kept at most.
  package init(capacity: Int) {
    self.capacity = capacity
  }

  package var count: Int { young.count + old.count }

  /// The identity of a credential, where its answer may still be used. `now` is time since 1970.
  package mutating func find(_ digest: [UInt8], at now: Duration) -> Identity? {
    if let entry = young[digest] { return isGood(entry, now) ? entry.identity : nil }
    guard let entry = old.removeValue(forKey: digest), isGood(entry, now) else { return nil }
    add(entry, digest)
    return entry.identity
  }

  /// Keeps an answer from `now` to `end`.
  package mutating func insert(_ identity: Identity, for digest: [UInt8], from now: Duration, to end: Duration) {
    guard end > now else { return }
    old[digest] = nil
    add(Entry(identity: identity, end: end, start: now), digest)
  }

  private mutating func add(_ entry: Entry, _ digest: [UInt8]) {
    guard capacity >= 2 else { return }
    young[digest] = entry
    guard young.count >= capacity / 2 else { return }
    old = young
    young = [:]
  }

  private func isGood(_ entry: Entry, _ now: Duration) -> Bool { now >= entry.start && now < entry.end }
}
