internal import MartletRuntime
package import MartletStore
internal import Synchronization

/// Adds up the loops' counters for `/metrics`, in Prometheus' text form.
package final class MetricsCollector: Sendable {
  /// What a loop reports besides its counters.
  package struct Gauges: Sendable {
    package var connections = 0
    package var sessions = 0
    package var subscriptions = 0
    package var groups = 0
    package var scannedFilters = 0
  }

  private struct Sum {
    var waiting: Int
    var counters = LoopCounters()
    var gauges = Gauges()
  }

  private let store: Store
  private let hubs = Mutex<[LoopBound<LoopHub>]>([])

  package init(_ store: Store) {
    self.store = store
  }

  func follow(_ hub: LoopBound<LoopHub>) {
    hubs.withLock { $0.append(hub) }
  }

  /// Asks each loop once and calls `completion` on the last one to answer.
  package func collect(_ completion: @escaping @Sendable (String) -> Void) {
    snapshot { [store] counters, gauges in completion(Self.text(counters, gauges, store.position)) }
  }

  /// The same as numbers.
  package func snapshot(_ completion: @escaping @Sendable (LoopCounters, Gauges) -> Void) {
    let hubs = hubs.withLock { $0 }
    let sum = SharedSum(waiting: hubs.count)
    for hub in hubs {
      hub.loop.execute {
        if let total = sum.add(hub.value.counters, hub.value.gauges) { completion(total.0, total.1) }
      }
    }
  }

  private final class SharedSum: Sendable {
    private let sum: Mutex<Sum>

    init(waiting: Int) {
      sum = Mutex(Sum(waiting: waiting))
    }

    /// The total, for the last that adds.
    func add(_ counters: LoopCounters, _ gauges: Gauges) -> (LoopCounters, Gauges)? {
      sum.withLock { sum in
        sum.counters.add(counters)
        sum.gauges.connections += gauges.connections
        sum.gauges.sessions += gauges.sessions
        sum.gauges.subscriptions += gauges.subscriptions
        sum.gauges.groups += gauges.groups
        sum.gauges.scannedFilters += gauges.scannedFilters
        sum.waiting -= 1
        return sum.waiting == 0 ? (sum.counters, sum.gauges) : nil
      }
    }
  }

  private static func text(_ counters: LoopCounters, _ gauges: Gauges, _ position: LogPosition) -> String {
    var lines: [String] = []
    func add(_ name: String, _ kind: String, _ help: String, _ value: Int64) {
      lines += ["# HELP martlet_\(name) \(help)", "# TYPE martlet_\(name) \(kind)", "martlet_\(name) \(value)"]
    }
    for counter in Counter.allCases { add(counter.name, "counter", counter.help, Int64(counters[counter])) }
    add("connections", "gauge", "Open connections.", Int64(gauges.connections))
    add("websocket_sessions", "gauge", "Open WebSocket sessions.", Int64(gauges.sessions))
    add("subscriptions", "gauge", "Live subscriptions fed by the log.", Int64(gauges.subscriptions))
    add("subscription_groups", "gauge", "Groups of equal subscriptions.", Int64(gauges.groups))
    add("scanned_filters", "gauge", "Filters without an equality, tried on every event.", Int64(gauges.scannedFilters))
    add("log_head_offset", "gauge", "Newest durable offset of the change log.", position.head)
    add("log_first_offset", "gauge", "Oldest offset the change log keeps.", position.firstRetained)
    add("log_bytes", "gauge", "Bytes of change log entries kept.", position.bytes)
    return lines.joined(separator: "\n") + "\n"
  }
}
