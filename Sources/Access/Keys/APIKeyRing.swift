internal import MartletJSON

/// The API keys in force.
package struct APIKeyRing: Sendable, Hashable {
  package let keys: [APIKey]

  /// Why keys cannot be in force together.
  package enum Conflict: Error, Sendable, Hashable, CustomStringConvertible {
    /// Rules and logs could not distinguish the two.
    case sameName(String)
    /// Two names for one key: withdrawing one would withdraw nothing.
    case sameDigest(String, String)

    package var description: String {
      switch self {
      case .sameName(let name): "two keys are called \"\(name)\""
      case .sameDigest(let first, let second): "\"\(first)\" and \"\(second)\" are the same key"
      }
    }
  }

  package init(_ keys: [APIKey]) throws(Conflict) {
    for (position, key) in keys.enumerated() {
      for other in keys[..<position] {
        if other.name.hasSameBytes(as: key.name) { throw .sameName(key.name) }
        if other.digest == key.digest { throw .sameDigest(other.name, key.name) }
      }
    }
    self.keys = keys
  }

  /// What is known of a key that a caller showed.
  package enum Finding: Sendable, Hashable {
    case accepted(APIKey)
    /// It was a key; for the operator's log, not for the caller.
    case expired(APIKey)
    case unknown
  }

  /// Finds a key by the digest of its text. `now` is time since 1970.
  ///
  /// Every byte of every key is compared whatever was found before, so that the time taken says nothing about the keys.
  package func find(_ digest: [UInt8], at now: Duration) -> Finding {
    var found: APIKey?
    for key in keys where Self.isEqual(key.digest, digest) { found = key }
    guard let found else { return .unknown }
    if let expires = found.expires, now >= expires { return .expired(found) }
    return .accepted(found)
  }

  /// Whether what a key admitted may continue: not when the key was withdrawn, renamed, given another scope or right
  /// to ask for the schema, or made to end sooner.
  package func stillAccepts(_ key: APIKey, at now: Duration) -> Bool {
    guard case .accepted(let found) = find(key.digest, at: now), found.scope == key.scope,
      found.introspection == key.introspection,
      found.name.hasSameBytes(as: key.name)
    else { return false }
    guard let end = found.expires else { return true }
    return key.expires.map { end >= $0 } ?? false
  }

  private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    var difference: UInt8 = left.count == right.count ? 0 : 1
    for (a, b) in zip(left, right) { difference |= a ^ b }
    return difference == 0
  }
}
