/// Something the server counts; the raw value is its slot in a `ServerCounters`.
package enum Counter: Int, CaseIterable, Sendable {
  case connectionsOpened, connectionsClosed, requests, requestsRefused, operations
  case operationsRefused, subscriptions
  case subscriptionsEnded, batches, changes, predicateEvaluations, payloadEncodings, deliveries, gaps
  case lagging, catchUpReads, protocolErrors, credentialsRefused, writesRefused, requestsShed, planHits, planMisses
  case readersGivenUp
  case channelDeliveries, channelFailures, channelDeadLetters

  /// One sentence for readers of the exposition.
  var help: String {
    switch self {
    case .connectionsOpened: "Connections accepted."
    case .connectionsClosed: "Connections ended, for whatever reason."
    case .requests: "HTTP requests read."
    case .requestsRefused: "HTTP requests answered with 4xx or 5xx."
    case .operations: "GraphQL operations started."
    case .operationsRefused: "GraphQL operations refused before execution."
    case .subscriptions: "Subscriptions that went live."
    case .subscriptionsEnded: "Subscriptions that ended, for whatever reason."
    case .batches: "Group commits received, once per loop."
    case .changes: "Changes received, once per loop."
    case .predicateEvaluations: "Filter evaluations by the subscription index."
    case .payloadEncodings: "Payloads encoded, once per event and group."
    case .deliveries: "Events written to members."
    case .gaps: "Gap events sent."
    case .lagging: "Times a connection fell behind and went to its cursor."
    case .catchUpReads: "Reads of the log for catch-up."
    case .protocolErrors: "Times a peer broke a rule or a limit of its protocol."
    case .credentialsRefused: "Requests, connections and subscriptions refused for their credentials."
    case .writesRefused: "Mutations refused because the writer's queue was full."
    case .requestsShed: "HTTP requests refused unread because the event loop was behind."
    case .planHits: "Operations whose plan was cached."
    case .readersGivenUp: "Streamed responses ended because their clients read nothing of them."
    case .planMisses: "Operations parsed, validated and planned."
    case .channelDeliveries: "Events that webhooks and push services accepted."
    case .channelFailures: "Failed attempts to deliver an event to a webhook or push service."
    case .channelDeadLetters: "Events for webhooks and devices that were given up."
    }
  }

  /// Name in the Prometheus exposition, without the common prefix.
  var name: String {
    switch self {
    case .connectionsOpened: "connections_opened_total"
    case .connectionsClosed: "connections_closed_total"
    case .requests: "http_requests_total"
    case .requestsRefused: "http_requests_refused_total"
    case .operations: "operations_started_total"
    case .operationsRefused: "operations_refused_total"
    case .subscriptions: "subscriptions_started_total"
    case .subscriptionsEnded: "subscriptions_ended_total"
    case .batches: "feed_batches_total"
    case .changes: "feed_changes_total"
    case .predicateEvaluations: "feed_predicate_evaluations_total"
    case .payloadEncodings: "feed_payload_encodings_total"
    case .deliveries: "feed_deliveries_total"
    case .gaps: "feed_gaps_total"
    case .lagging: "feed_lagging_total"
    case .catchUpReads: "feed_catch_up_reads_total"
    case .protocolErrors: "protocol_errors_total"
    case .credentialsRefused: "credentials_refused_total"
    case .writesRefused: "writes_refused_total"
    case .requestsShed: "http_requests_shed_total"
    case .planHits: "plan_cache_hits_total"
    case .readersGivenUp: "http_readers_given_up_total"
    case .planMisses: "plan_cache_misses_total"
    case .channelDeliveries: "channel_deliveries_total"
    case .channelFailures: "channel_failures_total"
    case .channelDeadLetters: "channel_dead_letters_total"
    }
  }
}

/// What one loop counts. Confined to the loop, so counting costs an addition; `/metrics` adds the loops up.
package struct ServerCounters: Sendable {
  private var counts = [Int](repeating: 0, count: Counter.allCases.count)
  /// Refused credentials by reason, whose names are a fixed vocabulary.
  package private(set) var refusals: [String: Int] = [:]
  /// What callers were refused because they had used what they may use, by the limit's name.
  package private(set) var limited: [String: Int] = [:]

  package init() {}

  package subscript(counter: Counter) -> Int { counts[counter.rawValue] }

  package mutating func add(_ counter: Counter, _ amount: Int = 1) {
    counts[counter.rawValue] += amount
  }

  package mutating func addRefusal(_ reason: String) { refusals[reason, default: 0] += 1 }

  package mutating func addLimited(_ limit: String) { limited[limit, default: 0] += 1 }

  package mutating func add(_ other: ServerCounters) {
    for slot in counts.indices {
      counts[slot] += other.counts[slot]
    }
    for (reason, count) in other.refusals { refusals[reason, default: 0] += count }
    for (limit, count) in other.limited { limited[limit, default: 0] += count }
  }
}

/// The counters of one loop, which everything on it adds to. Confined to the loop.
package final class LoopTally {
  package private(set) var counts = ServerCounters()

  package init() {}

  package func add(_ counter: Counter, _ amount: Int = 1) {
    counts.add(counter, amount)
  }

  /// Counts credentials that were refused for `reason`, a stable name.
  func addRefusal(_ reason: String) { counts.addRefusal(reason) }

  /// Counts what a caller was refused by one of the limits of `callers`.
  func addLimited(_ limit: String) { counts.addLimited(limit) }
}
