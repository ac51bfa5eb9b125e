/// Bounds on what is read of a token before its signature is checked, and on what is remembered of it after.
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
  /// Verified tokens that are remembered: 10,000 callers that reconnect at once cost one verification each, and some
  /// 20 MB.
  package var remembered = 10_000

  /// The defaults.
  package init() {}
}
