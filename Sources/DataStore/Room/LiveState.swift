internal import MartletGraphQLClient
internal import MartletLiveQueries
internal import MartletModels
internal import MartletVocabulary

/// The live queries of a store, and their consumers.
struct LiveState {
  /// An event to hand out, outside the lock; nil for a stream that ends, because its consumer has missed changes.
  typealias Delivery = (core: SubscriptionCore, event: SubscriptionEvent?)

  /// A live query's consumer. One object for the store, the stream and its end, in place of names to look it up by.
  ///
  /// `@unchecked Sendable` holds because what is not immutable is used within the lock of the streams' state alone; a
  /// weak reference locks itself.
  final class Watcher: @unchecked Sendable {
    // In this order they fill each other's gaps.
    let core: SubscriptionCore
    private weak var streams: StoreStreams?
    /// Ascending in the order in which consumers came.
    let number: Int
    /// When it began.
    let begin: Instant
    /// Nil until the store's thread has added it, and once it has left.
    fileprivate(set) var query: LiveQueryID?
    /// Whether a token waits in its stream.
    var isAnnounced = false
    /// Whether it gets a snapshot although its rows are the same.
    fileprivate var owesSnapshot = true
    /// Whether it is among those that may have something to take.
    fileprivate var isDue = false
    /// When its result was there first and has changed last.
    fileprivate(set) var shown: (first: Instant, last: Instant)?
    let model: Int32
    /// When the sync of its model had finished.
    fileprivate(set) var synced: Instant?
    /// Since when changes of a sync are held back.
    fileprivate var heldSince: Instant?
    /// How many changes had been shown before.
    fileprivate var shownChanges = 0

    init(_ number: Int, model: Int, _ core: SubscriptionCore, _ streams: StoreStreams, begin: Instant) {
      self.number = number
      self.model = Int32(truncatingIfNeeded: model)
      self.core = core
      self.streams = streams
      self.begin = begin
    }

    /// Its consumer takes what the token stands for. Returns whether it gets a snapshot although its rows are the same.
    func takeToken() -> Bool {
      defer { (isAnnounced, owesSnapshot) = (false, false) }
      return owesSnapshot
    }

    /// Its stream has ended.
    func leave() { streams?.leave(self) }
  }

  struct Observer {
    var model: Int
    var predicate: Predicate
    var related: RelatedTerms
    var core: SubscriptionCore
    /// Events of the time in which the store was stopped.
    var held: [SubscriptionEvent] = []
    var heldBytes = 0
    /// Whether there were changes that it does not get.
    var hasMissed = false

    /// As many and as large as the events that wait for a consumer.
    mutating func hold(_ event: SubscriptionEvent) {
      guard !hasMissed else { return }
      held.append(event)
      heldBytes += event.payload.count
      let policy = StoreStreams.observerPolicy
      guard held.count > policy.events || heldBytes > policy.bytes else { return }
      held = []
      hasMissed = true
    }

    mutating func takeHeld() -> [SubscriptionEvent] {
      defer { (held, heldBytes) = ([], 0) }
      return held
    }
  }

  var set = LiveQuerySet()
  /// By the places of their queries.
  private var watchers: [Watcher?] = []
  var observers: [Int: Observer] = [:]
  /// Consumers that may have something to take: those of queries that a commit has met.
  private var due: [Watcher] = []
  var isPaused = false
  /// Models whose sync has finished since `start()`.
  var synced: Set<Int> = []
  var events = 0
  /// What queries must agree with that are read beside the store's thread.
  var front = CommitFront()
  var failure: DataStoreError?
  private var consumers = 0

  mutating func newConsumer() -> Int {
    consumers += 1
    return consumers
  }

  /// The consumers of live queries, in the order in which they came.
  var allWatchers: [Watcher] { watchers.compactMap { $0 }.sorted { $0.number < $1.number } }

  mutating func add(_ watcher: Watcher, of query: LiveQueryID) {
    watcher.query = query
    while watchers.count <= query.place { watchers.append(nil) }
    watchers[query.place] = watcher
    addDue(watcher)
  }

  private mutating func addDue(_ watcher: Watcher) {
    guard !watcher.isDue else { return }
    watcher.isDue = true
    due.append(watcher)
  }

  mutating func remove(_ watcher: Watcher) {
    guard let query = watcher.query else { return }
    watcher.query = nil
    watchers[query.place] = nil
    set.remove(query)
  }

  /// What observers get of their events: nothing while the store is stopped, and first of all what has waited for that.
  ///
  /// - Parameter isLost: whether there were changes of which nothing is known.
  mutating func pass(_ found: [(observer: Int, event: SubscriptionEvent)], isLost: Bool) -> [Delivery] {
    if isLost { for number in observers.keys { observers[number]?.hasMissed = true } }
    if isPaused {
      for (observer, event) in found { observers[observer]?.hold(event) }
      return []
    }
    var deliveries: [Delivery] = []
    // In the order of the numbers: a dictionary's own is another in each run.
    let waiting = observers.filter { $0.value.hasMissed || !$0.value.held.isEmpty }.sorted { $0.key < $1.key }
    for (number, observer) in waiting {
      let held = observers[number]?.takeHeld() ?? []
      deliveries += held.map { (observer.core, $0) }
      if observer.hasMissed { deliveries.append((observer.core, nil)) }
    }
    return deliveries + found.compactMap { found in observers[found.observer].map { ($0.core, found.event) } }
  }

  /// A commit has met these queries.
  mutating func meet(_ queries: [LiveQueryID]) {
    for query in queries where query.place < watchers.count {
      if let watcher = watchers[query.place] { addDue(watcher) }
    }
  }

  /// These consumers get a snapshot whatever their rows are; those of all models for nil.
  mutating func owe(model: Int? = nil) {
    for case let watcher? in watchers where model == nil || Int(watcher.model) == model {
      watcher.owesSnapshot = true
      addDue(watcher)
    }
  }

  /// The consumers that may have something to take, in the order in which they came. Those that get nothing now are
  /// among them again when they are met the next time, or by `wait`.
  mutating func takeDue() -> [Watcher] {
    let found = due.sorted { $0.number < $1.number }
    due.removeAll(keepingCapacity: true)
    for watcher in found { watcher.isDue = false }
    return found.filter { $0.query != nil }
  }

  /// This consumer may have something to take later.
  mutating func wait(_ watcher: Watcher) { addDue(watcher) }

  /// Whether a token goes into the consumer's stream; not when it has nothing new to take, or a token waits there.
  mutating func announces(_ watcher: Watcher, _ now: Instant) -> Bool {
    guard let query = watcher.query else { return false }
    let standing = set.standing(of: query)
    guard watcher.owesSnapshot || standing.isDue else { return false }
    watcher.heldSince = nil
    watcher.shownChanges = standing.changes
    watcher.shown = (watcher.shown?.first ?? now, now)
    if watcher.synced == nil, synced.contains(Int(watcher.model)) { watcher.synced = now }
    defer { watcher.isAnnounced = true }
    return !watcher.isAnnounced
  }

  /// Holds back what a sync has changed for a consumer that has a snapshot already. Returns when it is shown at the
  /// latest; nil for what is shown now.
  mutating func hold(_ watcher: Watcher, _ pace: SnapshotPace, _ now: Instant) -> Instant? {
    guard let query = watcher.query, watcher.shown != nil, !watcher.owesSnapshot,
      !synced.contains(Int(watcher.model))
    else { return nil }
    let standing = set.standing(of: query)
    guard standing.isDue else { return nil }
    let since = watcher.heldSince ?? now
    watcher.heldSince = since
    let end = since + pace.interval
    if end <= now || standing.changes - watcher.shownChanges >= pace.changes { return nil }
    return end
  }
}
