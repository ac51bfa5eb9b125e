internal import MartletRuntime
internal import MartletSockets
package import MartletStore
internal import MartletVocabulary

/// Adds up the loops' counters for `/metrics`, in Prometheus' text form.
package final class MetricsCollector: Sendable {
  private struct Sum {
    var waiting: Int
    var counters = ServerCounters()
    var gauges = LoopGauges()
  }

  /// The stores, by what their paths begin with.
  private let stores: [(path: String, store: Store)]
  private let hubs = Lock<[LoopBound<LoopServer>]>([])

  /// - Parameter others: The stores besides the first, by what their paths begin with.
  package init(_ store: Store, _ others: [(path: String, store: Store)] = []) {
    stores = [("", store)] + others
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
    snapshot { [stores] counters, gauges in completion(Self.text(counters, gauges, stores)) }
  }

  /// The same as numbers.
  package func snapshot(_ completion: @escaping @Sendable (ServerCounters, LoopGauges) -> Void) {
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
    func add(_ counters: ServerCounters, _ gauges: LoopGauges) -> (ServerCounters, LoopGauges)? {
      sum.withLock { sum in
        sum.counters.add(counters)
        sum.gauges.connections += gauges.connections
        sum.gauges.sessions += gauges.sessions
        sum.gauges.streams += gauges.streams
        sum.gauges.subscriptions += gauges.subscriptions
        sum.gauges.groups += gauges.groups
        sum.gauges.scannedFilters += gauges.scannedFilters
        sum.gauges.pendingBytes += gauges.pendingBytes
        sum.gauges.membersCatchingUp += gauges.membersCatchingUp
        for (name, delays) in gauges.delays { sum.gauges.delays[name, default: Histogram(delays.bounds)].add(delays) }
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

  private static func text(
    _ counters: ServerCounters, _ gauges: LoopGauges, _ stores: [(path: String, store: Store)]
  ) -> String {
    var lines: [String] = []
    func add(_ name: String, _ kind: String, _ help: String, _ value: Int64) {
      lines += ["# HELP martlet_\(name) \(help)", "# TYPE martlet_\(name) \(kind)", "martlet_\(name) \(value)"]
    }
    for counter in Counter.allCases { add(counter.name, "counter", counter.help, Int64(counters[counter])) }
    /// A counter with one line for each value of a label, whose values are names of ours.
    func add(_ name: String, _ help: String, by label: String, _ counts: [String: Int]) {
      lines += ["# HELP martlet_\(name) \(help)", "# TYPE martlet_\(name) counter"]
      for (value, count) in counts.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        lines.append("martlet_\(name){\(label)=\"\(value)\"} \(count)")
      }
    }
    add(
      "credentials_refused_by_reason_total", "Refused credentials by the reason that the log has.", by: "reason",
      counters.refusals)
    add("caller_limits_total", "What callers were refused by their limits.", by: "limit", counters.limited)
    add("connections", "gauge", "Open connections.", Int64(gauges.connections))
    add(
      "connections_refused_total", "counter", "Connections refused because the limit was reached.",
      Int64(gauges.refused))
    add("websocket_sessions", "gauge", "Open WebSocket sessions.", Int64(gauges.sessions))
    add("http_streams", "gauge", "Streamed HTTP responses under way.", Int64(gauges.streams))
    add("subscriptions", "gauge", "Live subscriptions fed by the log.", Int64(gauges.subscriptions))
    add("subscription_groups", "gauge", "Groups of equal subscriptions.", Int64(gauges.groups))
    add("scanned_filters", "gauge", "Filters without an equality, tried on every event.", Int64(gauges.scannedFilters))
    add(
      "members_catching_up", "gauge", "Subscriptions that read on from their own offsets.",
      Int64(gauges.membersCatchingUp))
    add("pending_bytes", "gauge", "Bytes that sockets' peers have not taken.", Int64(gauges.pendingBytes))
    add("loop_turns_total", "counter", "Rounds of the event loops.", Int64(gauges.turns))
    add("loop_wakes_total", "counter", "Times another thread had to wake a loop.", Int64(gauges.wakes))
    add("socket_sends_total", "counter", "System calls that send.", Int64(gauges.sends))
    add("socket_receives_total", "counter", "System calls that receive.", Int64(gauges.receives))
    // The first store's figures have no label, so that a server with one store reads as it always did.
    func each(_ name: String, _ kind: String, _ help: String, _ value: (Store) -> Int64) {
      lines += ["# HELP martlet_\(name) \(help)", "# TYPE martlet_\(name) \(kind)"]
      for (path, store) in stores {
        lines.append("martlet_\(name)\(path.isEmpty ? "" : "{store=\"\(path)\"}") \(value(store))")
      }
    }
    each("log_head_offset", "gauge", "Newest durable offset of the change log.") { $0.position.head }
    each("log_first_offset", "gauge", "Oldest offset the change log keeps.") { $0.position.firstRetained }
    each("log_bytes", "gauge", "Bytes of change log entries kept.") { $0.position.bytes }
    each("log_damage_total", "counter", "Offsets at which the change log could not be read.") {
      Int64($0.damages.count)
    }
    each("store_disk_full_total", "counter", "Groups of writes that a full disk refused.") { Int64($0.fullDisks) }
    lines += HistogramText(
      "commit_to_frame_seconds", "From a durable commit to the frame of its event for one member.", scale: 1_000_000
    ).lines(gauges.delays.sorted { $0.key < $1.key }.map { ("protocol=\"\($0.key)\"", $0.value) })
    func labelled(_ histogram: (StoreMeasures) -> Histogram) -> [(String, Histogram)] {
      stores.map { path, store in (path.isEmpty ? "" : "store=\"\(path)\"", histogram(store.measures)) }
    }
    lines += HistogramText(
      "store_commit_seconds", "Group commits, from their first write to the disk's confirmation.", scale: 1_000_000
    ).lines(labelled(\.commits))
    lines += HistogramText("store_group_writes", "Writes of a group commit.", scale: 1).lines(labelled(\.writes))
    return lines.joined(separator: "\n") + "\n"
  }
}
