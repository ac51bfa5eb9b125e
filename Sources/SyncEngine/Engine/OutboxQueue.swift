internal import MartletVocabulary

/// The order of uploads and the one in flight. The writes themselves are in the store.
struct OutboxQueue: Sendable {
  struct Item: Sendable, Hashable {
    var number: Int64
    var model: Int
  }

  /// What the first write waits for.
  enum State: Sendable, Hashable {
    /// Nothing is in flight.
    case idle
    case inFlight
    /// Until this time, or until the network is reachable.
    case retrying(at: Instant)
    case refreshing
    /// For the application's answer.
    case resolving(ServerImage)
  }

  /// A slice, of which the first is taken without moving the others: as many wait as were made without a network.
  private(set) var items: ArraySlice<Item> = []
  private var numbers: Set<Int64> = []
  private(set) var state = State.idle
  private(set) var failures = 0
  /// How often the server has failed at the first write.
  private(set) var faults = 0
  /// How often the first write has met a conflict and is made again.
  private(set) var conflicts = 0
  /// Whether the first write was refused with old credentials, and new ones were fetched for it.
  var hasRefreshed = false
  /// Writes that the server has and the feed has not passed: the offset of their change, by number.
  private var durable: [(number: Int64, position: Int64)] = []

  init() {}

  var isEmpty: Bool { items.isEmpty }
  var first: Item? { items.first }
  var retryAt: Instant? { if case .retrying(let time) = state { time } else { nil } }

  /// Makes room for this many further writes.
  mutating func reserve(_ count: Int) {
    items.reserveCapacity(items.count + count)
    numbers.reserveCapacity(numbers.count + count)
  }

  mutating func append(_ number: Int64, model: Int) {
    guard numbers.insert(number).inserted else { return }
    items.append(Item(number: number, model: model))
  }

  mutating func takeOff() { state = .inFlight }

  /// Connection lost: what was in flight is sent again under its number.
  mutating func interrupt() {
    // An answer of the application to a conflict stays awaited.
    if case .resolving = state { return }
    state = .idle
  }

  mutating func noteFault() { faults += 1 }

  mutating func retry(at time: Instant) {
    failures += 1
    state = .retrying(at: time)
  }

  mutating func retry() {
    switch state {
    case .retrying, .refreshing: state = .idle
    case .idle, .inFlight, .resolving: break
    }
  }

  /// The first write is sent at this time, although it has not failed.
  mutating func wait(until time: Instant) { state = .retrying(at: time) }

  mutating func timer(_ now: Instant) {
    if case .retrying(let time) = state, time <= now { state = .idle }
  }

  mutating func refresh() {
    hasRefreshed = true
    state = .refreshing
  }

  /// Fresh credentials were not accepted either: others are asked for then.
  mutating func retryRefreshing(at time: Instant) {
    hasRefreshed = false
    retry(at: time)
  }

  mutating func refreshFailed(until time: Instant) {
    guard state == .refreshing else { return }
    hasRefreshed = false
    state = .retrying(at: time)
  }

  mutating func awaitResolution(_ image: ServerImage) { state = .resolving(image) }

  /// The first write has its outcome.
  mutating func finish(_ number: Int64, durableAt position: Int64? = nil) {
    drop(number)
    if let position { durable.append((number, position)) }
    state = .idle
    forgetAttempts()
  }

  /// The first write is another one from now on.
  private mutating func forgetAttempts() {
    failures = 0
    faults = 0
    conflicts = 0
    hasRefreshed = false
  }

  /// The first write is retried under a new number, before all others.
  mutating func replace(_ number: Int64, with newNumber: Int64) {
    if let place = items.firstIndex(where: { $0.number == number }) {
      items[place].number = newNumber
      numbers.remove(number)
      numbers.insert(newNumber)
    }
    state = .idle
    faults = 0
    conflicts += 1
  }

  /// A write that was merged away or rejected with another.
  mutating func remove(_ number: Int64) {
    if first?.number == number {
      state = .idle
      forgetAttempts()
    }
    drop(number)
  }

  private mutating func drop(_ number: Int64) {
    guard numbers.remove(number) != nil else { return }
    if items.first?.number == number { items.removeFirst() } else { items.removeAll { $0.number == number } }
  }

  mutating func follow(_ earlier: OutboxQueue) { durable = earlier.durable }

  mutating func follow(_ others: [(number: Int64, position: Int64)]) {
    let known = Set(durable.map(\.number))
    durable += others.filter { !known.contains($0.number) }
  }

  /// What the server has said is void. Returns the writes that it had, and that the feed has not passed.
  mutating func abandon() -> [Int64] {
    defer { durable = [] }
    // The record of the conflict comes from the other history: the write is sent again.
    if case .resolving = state { state = .idle }
    return durable.map(\.number)
  }

  mutating func seen(upTo position: Int64) -> [Int64] {
    let seen = durable.filter { $0.position <= position }.map(\.number)
    durable.removeAll { $0.position <= position }
    return seen
  }
}
