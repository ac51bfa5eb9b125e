import MartletGraphQLLanguage
internal import MartletRuntime

/// Plans of requests seen before, by the document's bytes and the operation's name. Confined to its owner: each loop
/// has one and needs no lock.
///
/// When full, the older half of the entries by last use leaves at once, so that an insertion costs little on average.
package struct PlanCache<Plan: Sendable>: Sendable {
  private struct Key: Hashable {
    var document: [UInt8]
    var operation: String?
  }

  private struct Entry {
    var plan: Plan
    var lastUse: UInt64
  }

  private var entries: [Key: Entry] = [:]
  private var uses: UInt64 = 0
  package let capacity: Int
  /// Requests answered from the cache.
  package private(set) var hits = 0
  /// Requests that were not in the cache.
  package private(set) var misses = 0

  /// An empty cache of at most `capacity` plans.
  package init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  package var count: Int { entries.count }

  /// The plan kept for a request.
  package mutating func plan(document: [UInt8], operation: String?) -> Plan? {
    uses += 1
    let key = Key(document: document, operation: operation)
    guard let index = entries.index(forKey: key) else {
      misses += 1
      return nil
    }
    hits += 1
    entries.values[index].lastUse = uses
    return entries.values[index].plan
  }

  /// Keeps the plan of a request.
  package mutating func keep(_ plan: Plan, document: [UInt8], operation: String?) {
    if entries.count >= capacity {
      let order = entries.map { ($0.value.lastUse, $0.key) }.sorted { $0.0 < $1.0 }
      for (_, key) in order.prefix((capacity + 1) / 2) { entries[key] = nil }
    }
    uses += 1
    entries[Key(document: document, operation: operation)] = Entry(plan: plan, lastUse: uses)
  }
}

/// A plan cache for callers on any thread.
final class SharedPlanCache: Sendable {
  private let cache: Lock<PlanCache<OperationPlan>>

  init(capacity: Int) {
    cache = Lock(PlanCache(capacity: capacity))
  }

  func plan(document: [UInt8], operation: String?) -> OperationPlan? {
    cache.withLock { $0.plan(document: document, operation: operation) }
  }

  func keep(_ plan: OperationPlan, document: [UInt8], operation: String?) {
    cache.withLock { $0.keep(plan, document: document, operation: operation) }
  }
}
