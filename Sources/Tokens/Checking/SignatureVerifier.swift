/// Turns keys into something that checks signatures. Implemented over a cryptographic library on floor 1.
package protocol SignatureVerifier: Sendable {
  /// Imports a key, once for many signatures.
  ///
  /// - Throws: `notOnCurve` or `notImported`.
  func imported(_ key: TokenKey) throws(KeyRefusal) -> any ImportedKey
}

/// A key ready to check signatures, from any thread.
package protocol ImportedKey: Sendable {
  /// Whether `signature` is this key's over `message`. Comparison of authentication codes takes the same time wherever
  /// they first differ.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool
}
