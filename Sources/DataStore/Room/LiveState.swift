internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletVocabulary

/// The live queries of a store, and their consumers.
struct LiveState {
  /// An event to hand out, outside the lock.
  typealias Delivery = (core: SubscriptionCore, event: SubscriptionEvent)

  struct Watcher {
    var query: LiveQueryID
    var model: Int
    var core: SubscriptionCore
    /// When it began, and when its result was there first and has changed last.
    var begin: Instant
    var first: Instant?
    var last: Instant?
    /// When the sync of its model had finished.
    var synced: Instant?
    /// Whether a token waits in its stream.
    var isAnnounced = false
    /// Whether it gets a snapshot although its rows are the same.
    var owesSnapshot = false
    /// Since when changes of a sync are held back, and how many changes had been shown before.
    var heldSince: Instant?
    var shownChanges = 0
  }

  struct Observer {
    var model: Int
    var predicate: Predicate
    var related: RelatedTerms
    var core: SubscriptionCore
  }

  var set = LiveQuerySet()
  var watchers: [Int: Watcher] = [:]
  var observers: [Int: Observer] = [:]
  /// Consumers that may have something to take: those of queries that a commit has met.
  private(set) var due: Set<Int> = []
  var isPaused = false
  /// Models whose sync has finished since `start()`.
  var synced: Set<Int> = []
  /// Events of the time in which the store was stopped. A stream that they overflow ends as one whose consumer is slow.
  var held: [Delivery] = []
  var events = 0
  var failure: DataStoreError?
  private var consumers = 0
  private var byQuery: [LiveQueryID: Int] = [:]

  mutating func newConsumer() -> Int {
    consumers += 1
    return consumers
  }

  mutating func add(_ watcher: Watcher, as consumer: Int) {
    var watcher = watcher
    watcher.owesSnapshot = true
    watchers[consumer] = watcher
    byQuery[watcher.query] = consumer
    due.insert(consumer)
  }

  mutating func remove(_ consumer: Int) {
    observers[consumer] = nil
    due.remove(consumer)
    guard let watcher = watchers.removeValue(forKey: consumer) else { return }
    byQuery[watcher.query] = nil
    set.remove(watcher.query)
  }

  /// A commit has met these queries.
  mutating func meet(_ queries: [LiveQueryID]) {
    for query in queries { if let consumer = byQuery[query] { due.insert(consumer) } }
  }

  /// These consumers get a snapshot whatever their rows are.
  mutating func owe(_ isConcerned: (Watcher) -> Bool) {
    let concerned = watchers.filter { isConcerned($0.value) }.keys
    for consumer in concerned { watchers[consumer]?.owesSnapshot = true }
    due.formUnion(concerned)
  }

  /// The stream into which a token goes; nil when its consumer has nothing new to take, or a token waits there.
  mutating func announce(_ consumer: Int, _ now: Instant) -> SubscriptionCore? {
    due.remove(consumer)
    guard var watcher = watchers[consumer], !watcher.isAnnounced else { return nil }
    let standing = set.standing(of: watcher.query)
    guard watcher.owesSnapshot || standing.isDue else { return nil }
    watcher.isAnnounced = true
    watcher.owesSnapshot = false
    watcher.heldSince = nil
    watcher.shownChanges = standing.changes
    watcher.first = watcher.first ?? now
    if watcher.synced == nil, synced.contains(watcher.model) { watcher.synced = now }
    watcher.last = now
    watchers[consumer] = watcher
    return watcher.core
  }

  /// Holds back what a sync has changed for a consumer that has a snapshot already. Returns when it is shown at the
  /// latest; nil for what is shown now.
  mutating func hold(_ consumer: Int, _ pace: SnapshotPace, _ now: Instant) -> Instant? {
    guard let watcher = watchers[consumer], watcher.first != nil, !watcher.owesSnapshot,
      !synced.contains(watcher.model)
    else { return nil }
    let standing = set.standing(of: watcher.query)
    guard standing.isDue else { return nil }
    let since = watcher.heldSince ?? now
    watchers[consumer]?.heldSince = since
    let end = since + pace.interval
    if end <= now || standing.changes - watcher.shownChanges >= pace.changes { return nil }
    return end
  }
}
