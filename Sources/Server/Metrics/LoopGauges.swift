internal import MartletLoop
internal import MartletRuntime
package import MartletVocabulary

/// What a loop reports besides its counters.
package struct LoopGauges: Sendable {
  package var connections = 0
  package var sessions = 0
  package var streams = 0
  package var subscriptions = 0
  package var groups = 0
  package var scannedFilters = 0
  /// Bytes written to sockets that their peers have not taken.
  package var pendingBytes = 0
  /// Members that read on from their own offsets.
  package var membersCatchingUp = 0
  /// Microseconds from commits to the frames of their events, by protocol.
  package var delays: [String: Histogram] = [:]
  /// What the loop itself has done since it started; zero under a simulation.
  package var turns = 0
  package var wakes = 0
  package var sends = 0
  package var receives = 0
  /// Connections closed at once because there were too many.
  package var refused = 0

  /// The same with the counters of the loop, when it is one that counts.
  func adding(_ loop: any Loop) -> LoopGauges {
    guard let counted = (loop as? EpollLoop)?.counters else { return self }
    var gauges = self
    gauges.turns = counted.turns
    gauges.wakes = counted.wakes
    gauges.sends = counted.sends
    gauges.receives = counted.receives
    gauges.refused = counted.refused
    return gauges
  }
}
