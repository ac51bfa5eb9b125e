internal import MartletJSON

/// A key set with its keys imported.
package struct VerificationKeys: Sendable {
  package struct Entry: Sendable {
    package let key: TokenKey
    let imported: any ImportedKey
  }

  package let entries: [Entry]
  package let refused: [TokenKeySet.Refused]

  /// Imports the keys of a set. A key that cannot be imported is refused, and the others are used.
  package init(_ set: TokenKeySet, with verifier: some SignatureVerifier) {
    var entries: [Entry] = []
    var refused = set.refused
    for (position, key) in set.keys.enumerated() {
      do {
        entries.append(Entry(key: key, imported: try verifier.imported(key)))
      } catch {
        refused.append(.init(position: position, id: key.id, reason: error))
      }
    }
    self.entries = entries
    self.refused = refused
  }

  /// The keys that may have signed a token with this header.
  ///
  /// A token that names a key is checked with a key of that name only, or with keys that have no name. A token that
  /// names none is checked with every key of its algorithm, at most `limit` of them.
  ///
  /// - Throws: why there is none. `unknownKey` is worth another look at the set's source; the others are not.
  package func candidates(for header: TokenHeader, limit: Int) throws(TokenRefusal) -> [Entry] {
    guard let id = header.keyID else {
      let fitting = entries.filter { $0.key.algorithm == header.algorithm }
      guard !fitting.isEmpty else { throw mismatch(entries, header) ?? .unknownKey(nil) }
      guard fitting.count <= limit else { throw .tooManyKeys }
      return fitting
    }
    let named = entries.filter { $0.key.id?.hasSameBytes(as: id) ?? false }
    if let reason = refused.first(where: { $0.id?.hasSameBytes(as: id) ?? false })?.reason, named.isEmpty {
      throw .keyRefused(reason)
    }
    let pool = named.isEmpty ? entries.filter { $0.key.id == nil } : named
    let fitting = pool.filter { $0.key.algorithm == header.algorithm }
    guard !fitting.isEmpty else { throw mismatch(pool, header) ?? .unknownKey(id) }
    guard named.isEmpty || fitting.count == 1 else { throw .ambiguousKey(id) }
    guard fitting.count <= limit else { throw .tooManyKeys }
    return fitting
  }

  /// One key alone of another algorithm is worth naming.
  private func mismatch(_ pool: [Entry], _ header: TokenHeader) -> TokenRefusal? {
    guard pool.count == 1, let key = pool.first?.key else { return nil }
    return .algorithmMismatch(token: header.algorithm, key: key.algorithm)
  }
}
