/// What a loop has done since it started. Exact, so that tests can hold the loop to a number of sends and wakes.
package struct LoopCounters: Sendable, Equatable {
  /// Rounds of the loop.
  package var turns = 0
  /// Times another thread had to wake the loop. Many enqueues before it wakes count once.
  package var wakes = 0
  /// Pieces of posted work and executor jobs that ran.
  package var jobs = 0
  /// Timers that fired.
  package var timers = 0
  /// `send` calls, also those that failed.
  package var sends = 0
  /// `recv` calls, also those that failed.
  package var receives = 0
  package var bytesSent = 0
  /// Connections accepted here as the listener's loop.
  package var accepted = 0
  /// Connections turned away by a limit or for want of descriptors.
  package var refused = 0
  /// TLS handshakes that were finished.
  package var handshakes = 0
  /// Outgoing buffers that had to be allocated because the pool had none.
  package var buffersMade = 0

  package init() {}

  /// Counts a `send` call that answered `sent`: bytes, or a negative number for a failure. One access to the counters,
  /// because a fan-out sends thousands of times in a turn.
  package mutating func addSend(of sent: Int) {
    sends += 1
    if sent > 0 { bytesSent += sent }
  }
}
