/// Bounds of one HTTP/1.1 connection, either role.
package struct HTTPLimits: Sendable {
  /// Longest request or status line; longer requests answer 414. Holds a GET with a sizeable document.
  package var startLineBytes = 16_384
  /// Longest header block without the start line; longer ones answer 431. Holds several large tokens.
  package var headerBytes = 32_768
  /// Most header fields in one block; more answer 431.
  package var headerFields = 128
  /// Longest body after removing chunk framing; longer ones answer 413. A GraphQL request is far smaller.
  package var bodyBytes = 4 << 20
  /// Longest chunk-size line with its extensions, which are ignored.
  package var chunkLineBytes = 256
  /// Bytes of pipelined requests kept while a response is under way; past them reading must pause.
  package var pipelinedBytes = 65_536

  package init() {}
}
