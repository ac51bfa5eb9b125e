package import MartletVocabulary

/// What one connection, one identity or one address may use; nil for no bound.
package struct QuotaAllowance: Sendable, Hashable {
  package var connections: Int?
  package var subscriptions: Int?
  package var operationsPerSecond: Int?
  package var bytesPerSecond: Int?
  package var costPerSecond: Int?

  package init(
    connections: Int? = nil, subscriptions: Int? = nil, operationsPerSecond: Int? = nil, bytesPerSecond: Int? = nil,
    costPerSecond: Int? = nil
  ) {
    self.connections = connections
    self.subscriptions = subscriptions
    self.operationsPerSecond = operationsPerSecond
    self.bytesPerSecond = bytesPerSecond
    self.costPerSecond = costPerSecond
  }

  /// Whether nothing is bounded.
  package var isEmpty: Bool { self == QuotaAllowance() }
}

/// What one operation uses.
package struct QuotaUse: Sendable, Hashable {
  package var operations: Int
  package var bytes: Int
  package var cost: Int

  package init(operations: Int = 0, bytes: Int = 0, cost: Int = 0) {
    self.operations = operations
    self.bytes = bytes
    self.cost = cost
  }
}

/// What is bounded. The names are those of the limits.
package enum QuotaResource: String, Sendable, Hashable, CaseIterable {
  case connections
  case subscriptions
  case operations
  case bytes
  case cost
}

/// For whom something is bounded.
package enum QuotaScope: String, Sendable, Hashable, CaseIterable {
  case connection = "Connection"
  case identity = "Identity"
  case address = "Address"
}

/// Why something is not allowed now.
package struct QuotaRefusal: Error, Sendable, Hashable {
  package var scope: QuotaScope
  package var resource: QuotaResource
  /// When it is allowed again at the earliest; nil where that depends on what others end.
  package var retryAfter: Duration?

  package init(_ scope: QuotaScope, _ resource: QuotaResource, retryAfter: Duration? = nil) {
    self.scope = scope
    self.resource = resource
    self.retryAfter = retryAfter
  }

  /// The name of the limit in the server's configuration.
  package var limit: String {
    switch resource {
    case .connections, .subscriptions: "callers.\(resource.rawValue)Per\(scope.rawValue)"
    case .operations, .bytes, .cost: "callers.\(resource.rawValue)PerSecondPer\(scope.rawValue)"
    }
  }
}

/// What was spent at the three rates.
package struct QuotaMeters: Sendable, Hashable {
  private var operations = RateMeter()
  private var bytes = RateMeter()
  private var cost = RateMeter()

  package init() {}

  /// Why `use` is not allowed now, naming the rate that has the longest wait.
  package func refusal(
    of use: QuotaUse, _ allowance: QuotaAllowance, burst: Duration, at now: Instant
  ) -> (resource: QuotaResource, wait: Duration)? {
    var found: (resource: QuotaResource, wait: Duration)?
    func look(_ resource: QuotaResource, _ meter: RateMeter, _ amount: Int, _ rate: Int?) {
      guard let rate, let wait = meter.wait(for: amount, rate: rate, burst: burst, at: now) else { return }
      if found.map({ wait > $0.wait }) ?? true { found = (resource, wait) }
    }
    look(.operations, operations, use.operations, allowance.operationsPerSecond)
    look(.bytes, bytes, use.bytes, allowance.bytesPerSecond)
    look(.cost, cost, use.cost, allowance.costPerSecond)
    return found
  }

  package mutating func spend(_ use: QuotaUse, _ allowance: QuotaAllowance, at now: Instant) {
    if let rate = allowance.operationsPerSecond { operations.spend(use.operations, rate: rate, at: now) }
    if let rate = allowance.bytesPerSecond { bytes.spend(use.bytes, rate: rate, at: now) }
    if let rate = allowance.costPerSecond { cost.spend(use.cost, rate: rate, at: now) }
  }

  package func isIdle(at now: Instant) -> Bool {
    operations.isIdle(at: now) && bytes.isIdle(at: now) && cost.isIdle(at: now)
  }
}
