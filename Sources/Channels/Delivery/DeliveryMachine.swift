package import MartletJSONTree

/// Delivers the events of one channel in order, each at least once. Decides; sends nothing.
///
/// One attempt at most is under way. A failed one is repeated after a pause until it succeeds or the event is a dead
/// letter; only then the next event is sent. Times are milliseconds since 1970, because pauses outlast the process.
package struct DeliveryMachine: Sendable {
  /// What the machine wants.
  package enum Step: Sendable, Equatable {
    case send(ChannelEvent, attempt: Int)
    /// Nothing before this time.
    case wait(until: Int64)
    /// An attempt is under way, there is nothing to send, or a dead letter has to be recorded first.
    case idle
    /// There is no room for another dead letter: an operator has to deliver or discard some.
    case blocked
  }

  /// How an attempt ended.
  package enum Outcome: Sendable, Equatable {
    case delivered
    /// Worth another attempt, not before `retryAfter` milliseconds have passed.
    case failed(String, retryAfter: Int64?)
    /// Every further attempt would fail too.
    case refused(String)
  }

  /// What an outcome has led to.
  package enum Settlement: Sendable, Equatable {
    case delivered
    case retries(at: Int64)
    case died
  }

  package let policy: DeliveryPolicy
  /// Everything up to here was followed: it is delivered, queued, or does not concern the channel.
  package private(set) var followed: Int64
  private var queue: [Entry] = []
  private var queuedBytes = 0
  private var queuedEvents = 0
  /// Events of the first queued transaction with smaller numbers are settled.
  package private(set) var settledNumber = 0
  /// Failed attempts for the event that is next.
  package private(set) var attempts = 0
  package private(set) var retryTime: Int64?
  package private(set) var deadLetters: [UndeliveredEvent] = []
  /// Ids of dead letters that an operator wants delivered, first ones first.
  package private(set) var redeliveries: [String] = []
  /// The children that the node had at the position; nil where they do not matter.
  package private(set) var keys: Set<TreeKey>?
  private var underWay: UnderWay?
  /// Whether an event died since the last record. Nothing is sent before it is recorded: a restart would try the dead
  /// event again, after the next one had arrived.
  private var burial = Burial.done

  private enum Burial {
    case done
    case needed
    /// A record that has it is being written.
    case underWay
  }

  private struct Entry: Sendable {
    var transaction: ChannelTransaction
    /// The offset that had been followed before it.
    var after: Int64
  }

  private enum UnderWay {
    case queued
    case dead(String)
  }

  /// A machine for what follows `offset`.
  package init(after offset: Int64, keys: Set<TreeKey>? = nil, policy: DeliveryPolicy = DeliveryPolicy()) {
    followed = offset
    self.keys = keys
    self.policy = policy
  }

  // MARK: What is to be delivered

  /// Everything up to here is settled: a restart follows the log from it.
  package var position: Int64 { queue.first?.after ?? followed }

  /// Whether more may be appended now.
  package var hasRoom: Bool { queuedEvents < policy.queuedEvents && queuedBytes < policy.queuedBytes }

  /// Events that wait, with the one that is being sent.
  package var waitingEvents: Int { queuedEvents }

  /// Appends what follows. Transactions come in the order of the log.
  package mutating func append(_ transaction: ChannelTransaction) {
    guard transaction.offset > followed else { return }
    var transaction = transaction
    // Numbers of settled events are known only for the first transaction after the position.
    if queue.isEmpty, settledNumber > 0 {
      transaction.events.removeAll { $0.number < settledNumber }
    }
    queue.append(Entry(transaction: transaction, after: followed))
    queuedEvents += transaction.events.count
    queuedBytes += transaction.byteCount
    followed = transaction.offset
    settleEmpty()
  }

  /// What follows up to `offset` does not concern the channel.
  package mutating func skip(to offset: Int64) {
    followed = max(followed, offset)
  }

  /// Starts again after `offset`, where what lies between is lost: what was queued is still delivered, the gap's event
  /// after it.
  package mutating func jump(to transaction: ChannelTransaction, keys: Set<TreeKey>?) {
    settledNumber = queue.isEmpty ? 0 : settledNumber
    // A restored older copy of the data ends before the position.
    followed = min(followed, transaction.offset - 1)
    if let keys, let known = self.keys {
      var transaction = transaction
      transaction.existence =
        known.subtracting(keys).map { (key: $0, exists: false) } + keys.map { (key: $0, exists: true) }
      return append(transaction)
    }
    append(transaction)
  }

  /// Drops what is queued, and an attempt under way: what follows the position has to be appended again.
  package mutating func rewind() {
    followed = position
    queue = []
    (queuedEvents, queuedBytes) = (0, 0)
    underWay = nil
  }

  // MARK: Attempts

  /// What is to be done at `now`.
  package mutating func next(at now: Int64) -> Step {
    guard underWay == nil else { return .idle }
    while let id = redeliveries.first {
      guard let letter = deadLetters.first(where: { $0.event.id.utf8.elementsEqual(id.utf8) }) else {
        redeliveries.removeFirst()
        continue
      }
      underWay = .dead(id)
      return .send(letter.event, attempt: letter.attempts + 1)
    }
    guard burial == .done, let event = queue.first?.transaction.events.first else { return .idle }
    if let retryTime, retryTime > now {
      // A clock that was set back must not stop the channel.
      return .wait(until: min(retryTime, now + policy.longestPause))
    }
    guard hasRoomForDeadLetter(event) else { return .blocked }
    underWay = .queued
    return .send(event, attempt: attempts + 1)
  }

  private func hasRoomForDeadLetter(_ event: ChannelEvent) -> Bool {
    let bytes = deadLetters.reduce(event.body.count) { $0 + $1.event.body.count }
    return deadLetters.count < policy.deadLetters && (bytes <= policy.deadLetterBytes || deadLetters.isEmpty)
  }

  /// The attempt under way has ended; nil when none is.
  package mutating func ended(
    _ outcome: Outcome, at now: Int64, _ chance: inout some RandomNumberGenerator
  ) -> Settlement? {
    guard let underWay else { return nil }
    self.underWay = nil
    switch underWay {
    case .queued: return settleNext(outcome, now, &chance)
    case .dead(let id): return settleDead(id, outcome, now)
    }
  }

  /// The attempt under way was given up without an outcome, such as at the end of the process.
  package mutating func abandon() { underWay = nil }

  private mutating func settleNext(
    _ outcome: Outcome, _ now: Int64, _ chance: inout some RandomNumberGenerator
  ) -> Settlement? {
    guard let event = queue.first?.transaction.events.first else { return nil }
    attempts += 1
    switch outcome {
    case .delivered: break
    case .failed(_, let retryAfter) where attempts < policy.attempts:
      let time = now + policy.pause(after: attempts, atLeast: retryAfter, &chance)
      retryTime = time
      return .retries(at: time)
    case .failed(let reason, _), .refused(let reason):
      deadLetters.append(UndeliveredEvent(event: event, reason: reason, attempts: attempts, time: now))
      burial = .needed
    }
    settleFirstEvent()
    return outcome == .delivered ? .delivered : .died
  }

  private mutating func settleFirstEvent() {
    let event = queue[0].transaction.events.removeFirst()
    queuedEvents -= 1
    queuedBytes -= event.body.count
    settledNumber = event.number + 1
    attempts = 0
    retryTime = nil
    settleEmpty()
  }

  /// Removes transactions at the front of which nothing is left to deliver.
  private mutating func settleEmpty() {
    while let first = queue.first, first.transaction.events.isEmpty {
      for (key, exists) in first.transaction.existence {
        if exists { keys?.insert(key) } else { keys?.remove(key) }
      }
      queue.removeFirst()
      settledNumber = 0
    }
  }

  // MARK: Dead letters

  /// Delivers a dead letter once more, before what is queued.
  ///
  /// - Returns: whether there is one with this id.
  package mutating func redeliver(_ id: String) -> Bool {
    guard deadLetters.contains(where: { $0.event.id.utf8.elementsEqual(id.utf8) }) else { return false }
    if !redeliveries.contains(where: { $0.utf8.elementsEqual(id.utf8) }) { redeliveries.append(id) }
    return true
  }

  /// Forgets a dead letter.
  ///
  /// - Returns: whether there was one with this id.
  package mutating func discard(_ id: String) -> Bool {
    let before = deadLetters.count
    deadLetters.removeAll { $0.event.id.utf8.elementsEqual(id.utf8) }
    redeliveries.removeAll { $0.utf8.elementsEqual(id.utf8) }
    return deadLetters.count < before
  }

  /// Tries the next event now, whatever its pause.
  package mutating func retryNow() { retryTime = nil }

  private mutating func settleDead(_ id: String, _ outcome: Outcome, _ now: Int64) -> Settlement? {
    redeliveries.removeAll { $0.utf8.elementsEqual(id.utf8) }
    guard let place = deadLetters.firstIndex(where: { $0.event.id.utf8.elementsEqual(id.utf8) }) else { return nil }
    switch outcome {
    case .delivered:
      deadLetters.remove(at: place)
      return .delivered
    case .failed(let reason, _), .refused(let reason):
      deadLetters[place].reason = reason
      deadLetters[place].attempts += 1
      deadLetters[place].time = now
      return .died
    }
  }

  // MARK: Records

  /// What has to outlive the process.
  package var record: ChannelRecord {
    ChannelRecord(
      offset: position, settledNumber: settledNumber, attempts: attempts, retryTime: retryTime,
      deadLetters: deadLetters, redeliveries: redeliveries, keys: keys)
  }

  /// `record` is being written as it is now.
  package mutating func recording() {
    if burial == .needed { burial = .underWay }
  }

  /// The record that was being written is durable, or could not be written.
  package mutating func recorded(_ succeeded: Bool) {
    if burial == .underWay { burial = succeeded ? .done : .needed }
  }

  /// Continues where a record was made.
  package init(_ record: ChannelRecord, policy: DeliveryPolicy = DeliveryPolicy()) {
    self.init(after: record.offset, keys: record.keys, policy: policy)
    settledNumber = record.settledNumber
    attempts = record.attempts
    retryTime = record.retryTime
    deadLetters = record.deadLetters
    redeliveries = record.redeliveries
  }
}
