internal import MartletLoop
internal import MartletRuntime
internal import MartletSockets
package import MartletStore

/// Adds up the loops' counters for `/metrics`, in Prometheus' text form.
package final class MetricsCollector: Sendable {
  /// What a loop reports besides its counters.
  package struct Gauges: Sendable {
    package var connections = 0
    package var sessions = 0
    package var streams = 0
    package var subscriptions = 0
    package var groups = 0
    package var scannedFilters = 0
    /// Bytes written to sockets that their peers have not taken.
    package var pendingBytes = 0
    /// What the loop itself has done since it started; zero under a simulation.
    package var turns = 0
    package var wakes = 0
    package var sends = 0
    package var receives = 0
    /// Connections closed at once because there were too many.
    package var refused = 0

    /// The same with the counters of the loop, when it is one that counts.
    fileprivate func adding(_ loop: any Loop) -> Gauges {
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

  private struct Sum {
    var waiting: Int
    var counters = LoopCounters()
    var gauges = Gauges()
  }

  private let store: Store
  private let hubs = Lock<[LoopBound<LoopServer>]>([])

  package init(_ store: Store) {
    self.store = store
  }

  func follow(_ hub: LoopBound<LoopServer>) {
    hubs.withLock { $0.append(hub) }
  }

  /// Forgets the loops, which have ended: each holds this collector.
  func forget() {
    hubs.withLock { $0 = [] }
  }

  /// Asks each loop once and calls `completion` on the last one to answer.
  package func collect(_ completion: @escaping @Sendable (String) -> Void) {
    snapshot { [store] counters, gauges in completion(Self.text(counters, gauges, store)) }
  }

  /// The same as numbers.
  package func snapshot(_ completion: @escaping @Sendable (LoopCounters, Gauges) -> Void) {
    let hubs = hubs.withLock { $0 }
    let sum = SharedSum(waiting: hubs.count)
    for hub in hubs {
      hub.loop.execute {
        if let total = sum.add(hub.value.counters.counts, hub.value.gauges.adding(hub.loop)) {
          completion(total.0, total.1)
        }
      }
    }
  }

  private final class SharedSum: Sendable {
    private let sum: Lock<Sum>

    init(waiting: Int) {
      sum = Lock(Sum(waiting: waiting))
    }

    /// The total, for the last that adds.
    func add(_ counters: LoopCounters, _ gauges: Gauges) -> (LoopCounters, Gauges)? {
      sum.withLock { sum in
        sum.counters.add(counters)
        sum.gauges.connections += gauges.connections
        sum.gauges.sessions += gauges.sessions
        sum.gauges.streams += gauges.streams
        sum.gauges.subscriptions += gauges.subscriptions
        sum.gauges.groups += gauges.groups
        sum.gauges.scannedFilters += gauges.scannedFilters
        sum.gauges.pendingBytes += gauges.pendingBytes
        sum.gauges.turns += gauges.turns
        sum.gauges.wakes += gauges.wakes
        sum.gauges.sends += gauges.sends
        sum.gauges.receives += gauges.receives
        sum.gauges.refused += gauges.refused
        sum.waiting -= 1
        return sum.waiting == 0 ? (sum.counters, sum.gauges) : nil
      }
    }
  }

  private static func text(_ counters: LoopCounters, _ gauges: Gauges, _ store: Store) -> String {
    let position = store.position
    var lines: [String] = []
    func add(_ name: String, _ kind: String, _ help: String, _ value: Int64) {
      lines += ["# HELP martlet_\(name) \(help)", "# TYPE martlet_\(name) \(kind)", "martlet_\(name) \(value)"]
    }
    for counter in Counter.allCases { add(counter.name, "counter", counter.help, Int64(counters[counter])) }
    add("connections", "gauge", "Open connections.", Int64(gauges.connections))
    add(
      "connections_refused_total", "counter", "Connections refused because the limit was reached.",
      Int64(gauges.refused))
    add("websocket_sessions", "gauge", "Open WebSocket sessions.", Int64(gauges.sessions))
    add("http_streams", "gauge", "Streamed HTTP responses under way.", Int64(gauges.streams))
    add("subscriptions", "gauge", "Live subscriptions fed by the log.", Int64(gauges.subscriptions))
    add("subscription_groups", "gauge", "Groups of equal subscriptions.", Int64(gauges.groups))
    add("scanned_filters", "gauge", "Filters without an equality, tried on every event.", Int64(gauges.scannedFilters))
    add("pending_bytes", "gauge", "Bytes that sockets' peers have not taken.", Int64(gauges.pendingBytes))
    add("loop_turns_total", "counter", "Rounds of the event loops.", Int64(gauges.turns))
    add("loop_wakes_total", "counter", "Times another thread had to wake a loop.", Int64(gauges.wakes))
    add("socket_sends_total", "counter", "System calls that send.", Int64(gauges.sends))
    add("socket_receives_total", "counter", "System calls that receive.", Int64(gauges.receives))
    add("log_head_offset", "gauge", "Newest durable offset of the change log.", position.head)
    add("log_first_offset", "gauge", "Oldest offset the change log keeps.", position.firstRetained)
    add("log_bytes", "gauge", "Bytes of change log entries kept.", position.bytes)
    add("store_disk_full_total", "counter", "Groups of writes that a full disk refused.", Int64(store.fullDisks))
    return lines.joined(separator: "\n") + "\n"
  }
}
