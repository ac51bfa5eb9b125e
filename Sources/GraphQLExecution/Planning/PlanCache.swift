import MartletGraphQLLanguage
internal import MartletRuntime

/// Plans of requests seen before, by the document's bytes and the operation's name. Confined to its owner: each loop
/// has one and needs no lock.
///
/// When full, the older half of the entries by last use leaves at once, so that an insertion costs little on average.
///
/// Inlinable, because every request of another module's loops looks here, and generic code that does not know the type
/// of its plans takes several times as long.
package struct PlanCache<Plan: Sendable>: Sendable {
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline var plan: Plan
    @usableFromInline var lastUse: UInt64

    @inlinable
    init(plan: Plan, lastUse: UInt64) {
      self.plan = plan
      self.lastUse = lastUse
    }
  }

  @usableFromInline var entries: [PlanKey: Entry] = [:]
  @usableFromInline var uses: UInt64 = 0
  @usableFromInline var asked: (hits: Int, misses: Int) = (0, 0)
  package let capacity: Int
  /// Requests answered from the cache.
  package var hits: Int { asked.hits }
  /// Requests that were not in the cache.
  package var misses: Int { asked.misses }

  /// An empty cache of at most `capacity` plans.
  @inlinable
  package init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  package var count: Int { entries.count }

  /// The plan kept for a request.
  @inlinable
  package mutating func plan(document: [UInt8], operation: String?) -> Plan? {
    uses += 1
    let key = PlanKey(document: document, operation: operation)
    guard let index = entries.index(forKey: key) else {
      asked.misses += 1
      return nil
    }
    asked.hits += 1
    entries.values[index].lastUse = uses
    return entries.values[index].plan
  }

  /// Keeps the plan of a request.
  @inlinable
  package mutating func keep(_ plan: Plan, document: [UInt8], operation: String?) {
    if entries.count >= capacity {
      let order = entries.map { ($0.value.lastUse, $0.key) }.sorted { $0.0 < $1.0 }
      for (_, key) in order.prefix((capacity + 1) / 2) { entries[key] = nil }
    }
    uses += 1
    entries[PlanKey(document: document, operation: operation)] = Entry(plan: plan, lastUse: uses)
  }
}

/// The document and the operation's name that a plan is kept for.
@usableFromInline
struct PlanKey: Hashable, Sendable {
  @usableFromInline var document: [UInt8]
  @usableFromInline var operation: String?

  @inlinable
  init(document: [UInt8], operation: String?) {
    self.document = document
    self.operation = operation
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
