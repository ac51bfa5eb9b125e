/// The bounds of one loop. All are settings; each says why its default is what it is.
package struct LoopLimits: Sendable {
  /// Events taken in one turn. More would only make the latency of the last one longer; at most 256.
  package var eventsPerTurn = 256
  /// Posted work and jobs run in one turn, so that work that posts work cannot keep sockets waiting.
  package var jobsPerTurn = 4096
  /// Bytes read at once. One scratch per loop, so generous: a full socket buffer of small frames in one call.
  package var readBytes = 65_536
  /// Outgoing bytes of one connection that the peer has not taken; beyond it the connection is dropped. The owner's
  /// own high-water marks act long before; this is the floor under them.
  package var pendingBytes = 16 * 1024 * 1024
  /// Capacity a pooled outgoing buffer may have. One event for one subscriber is a few hundred bytes.
  package var pooledBufferBytes = 16_384
  /// Capacity of all pooled buffers together: what a loop that was busy keeps when all its connections are idle.
  package var poolBytes = 8 * 1024 * 1024
  /// How long a closing connection waits for the peer to take any of what is pending.
  package var flushTime = Duration.seconds(10)
  /// How long a closing connection waits for the peer's end of stream after its own, so that the last bytes are not
  /// lost to a reset (RFC 9112 section 9.6). A peer on a slow line is still receiving then.
  package var lingerTime = Duration.seconds(5)
  /// TLS handshakes begun or continued in one turn. One costs about half a millisecond of CPU, so four bound the turn.
  package var handshakesPerTurn = 4
  /// Connections closed in one turn, beside as many as begin in it. One costs about 30 us with what ran on it, so
  /// sixteen are half a millisecond.
  package var closingsPerTurn = 16

  package init() {}
}
