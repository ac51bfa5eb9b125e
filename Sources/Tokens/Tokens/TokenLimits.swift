/// Bounds on what is read of a token before its signature is checked.
package struct TokenLimits: Sendable, Hashable {
  /// Bytes of the whole token. Providers stay below 8 KiB, because HTTP servers commonly refuse longer headers.
  package var tokenBytes = 16_384
  /// Bytes of the decoded header. A certificate chain in it is ignored, but takes room.
  package var headerBytes = 8_192
  /// Levels of arrays and objects in header and claims. Known claims have three.
  package var depth = 16
  /// Keys tried for a token that names none. Each costs one signature check, so that a token without `kid` must not
  /// cost as many as the set has keys.
  package var keysTried = 4

  /// The defaults.
  package init() {}
}
