internal import MartletChangeFeed
internal import MartletChannels
internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// One subscription of a webhook or device: follows its source, delivers in order, and keeps its position in the log.
///
/// Confined to its loop.
final class Channel {
  private(set) var definition: ChannelDefinition
  let isConfigured: Bool
  let body: EventBody
  let tools: ChannelTools
  private let recorder: ChannelRecorder
  private let sender: any ChannelSender
  private let slots: ChannelSlots
  private(set) var machine: DeliveryMachine
  private var pace: RecordPace
  private var source: (any ChannelSourcing)?
  private var attempt: AnyObject?
  private var timer: LoopTimer?
  private var recordTimer: LoopTimer?
  private var chance: SeededRandom
  /// Why nothing more is delivered; nil for a channel that works.
  private(set) var failure: String?
  /// Why nothing is delivered for now; nil for a channel that works.
  private(set) var suspension: ChannelSuspension?
  /// After which a suspended channel is continued.
  private var suspendedCursor: Cursor?
  /// Whether the channel has begun somewhere in the log.
  private var hasPosition: Bool
  private var lastReason: String?
  private var isStopped = false
  /// Called when the target cannot be delivered to.
  var onTargetLost: (AttemptOutcome) -> Void = { _ in }
  /// Called once, when the position is durable for the first time, or with the reason why there is none.
  var onReady: ((String?) -> Void)?

  init(
    _ definition: ChannelDefinition, isConfigured: Bool, _ record: ChannelRecord?, _ tools: ChannelTools,
    _ recorder: ChannelRecorder, _ sender: any ChannelSender, _ slots: ChannelSlots
  ) {
    self.definition = definition
    self.isConfigured = isConfigured
    self.tools = tools
    self.recorder = recorder
    self.sender = sender
    self.slots = slots
    body = EventBody(definition, limit: tools.limits.eventBytes)
    let policy = DeliveryPolicy(tools.limits)
    hasPosition = record != nil
    machine = record.map { DeliveryMachine($0, policy: policy) } ?? DeliveryMachine(after: 0, policy: policy)
    pace = RecordPace(tools.limits)
    chance = tools.calendar.chance()
  }

  /// Follows a source from the recorded position on.
  func start(_ source: any ChannelSourcing, after cursor: Cursor?) {
    self.source = source
    source.begin(after: cursor)
    pump()
  }

  /// Neither follows nor delivers anything until `resume`; the position stays.
  ///
  /// - Parameter cursor: The recorded position of a channel that has not been started.
  func suspend(_ suspension: ChannelSuspension, at cursor: Cursor? = nil) {
    guard failure == nil, !isStopped else { return }
    let isNew = self.suspension == nil
    self.suspension = suspension
    guard isNew else { return }
    tools.log.write(
      .warning, "A subscription of a channel is suspended.",
      [(.subscription, definition.id), (.reason, suspension.reason)])
    if let followed = source?.followed { machine.skip(to: followed) }
    source?.stop()
    source = nil
    giveUpAttempt()
    // What was queued is derived from the log again, as after a restart.
    machine.rewind()
    suspendedCursor = cursor ?? (hasPosition ? tools.cursor(at: machine.followed) : nil)
    ready(suspension.reason)
  }

  /// Continues after a suspension, with what happened meanwhile.
  func resume(_ source: any ChannelSourcing) {
    guard suspension != nil, failure == nil, !isStopped else { return }
    suspension = nil
    tools.log.write(.info, "A subscription of a channel continues.", [(.subscription, definition.id)])
    start(source, after: suspendedCursor)
  }

  private func giveUpAttempt() {
    attempt = nil
    timer?.cancel()
    timer = nil
    slots.leave(self)
  }

  /// Follows another source from where the last one was.
  func restart(_ source: any ChannelSourcing) {
    guard failure == nil, suspension == nil, !isStopped else { return }
    let followed = max(machine.followed, self.source?.followed ?? 0)
    self.source?.stop()
    machine.skip(to: followed)
    start(source, after: tools.cursor(at: followed))
  }

  /// The owner, or the administrator that made it, has shown newer credentials.
  func renew(owner: JSONValue, maker: JSONValue) {
    definition.owner = owner
    definition.maker = maker
  }

  /// Ends everything that is under way, and records what was delivered.
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    let isDue = pace.time(at: .max) != nil || recordTimer != nil
    source?.stop()
    source = nil
    giveUpAttempt()
    recordTimer?.cancel()
    if isDue { recorder.keep(record: record.bytes, of: definition.id) { _ in } }
  }

  /// Nothing more is followed or delivered until the process starts again.
  func fail(_ reason: String) {
    guard failure == nil, !isStopped else { return }
    failure = reason
    source?.stop()
    source = nil
    tools.log.write(
      .warning, "A subscription of a channel has ended.", [(.subscription, definition.id), (.reason, reason)])
    ready(reason)
  }

  private func ready(_ reason: String?) {
    let onReady = onReady
    self.onReady = nil
    onReady?(reason)
  }

  // MARK: The source

  var hasRoom: Bool { machine.hasRoom }

  /// A new channel begins here.
  func begin(at offset: Int64, keys: Set<TreeKey>?) {
    hasPosition = true
    machine = DeliveryMachine(after: offset, keys: keys, policy: machine.policy)
    pace.settled()
    record(soon: true)
  }

  func append(_ transaction: ChannelTransaction) {
    machine.append(transaction)
    pace.moved()
    pump()
  }

  func skip(to offset: Int64) { machine.skip(to: offset) }

  /// What lies before `cursor` is lost.
  func gap(_ reason: String, from: Cursor?, to cursor: Cursor, keys: Set<TreeKey>?) {
    tools.log.write(
      .warning, "Events of a subscription are lost.", [(.subscription, definition.id), (.reason, reason)])
    let event = body.gap(reason, from: from, at: cursor, time: tools.now)
    machine.jump(to: ChannelTransaction(offset: cursor.offset, events: [event]), keys: keys)
    pump()
  }

  func apply(_ batch: ChangeBatch) { source?.apply(batch) }

  /// Records a position that has moved without a delivery.
  func recordIdlePosition(visible offset: Int64) {
    guard let followed = source?.followed, followed > machine.followed, machine.followed < offset else { return }
    machine.skip(to: followed)
    pace.moved()
    record()
  }

  // MARK: Delivery

  /// Sends what is next, if it may be sent now.
  func pump() {
    guard !isStopped, failure == nil, suspension == nil, attempt == nil, sender.isEnabled(definition.target) else {
      return
    }
    timer?.cancel()
    timer = nil
    switch machine.next(at: tools.now) {
    case .idle: record()
    case .blocked:
      lastReason = "there is no room for another dead letter (the limit channels.deadLetters)"
      record()
    case .wait(let time): timer = tools.schedule(at: time) { [weak self] in self?.pump() }
    case .send(let event, let number):
      guard slots.take(self) else { return machine.abandon() }
      attempt = sender.send(event, attempt: number, to: definition.target, context: definition) { [weak self] in
        self?.ended($0)
      }
    }
  }

  private func ended(_ outcome: AttemptOutcome) {
    attempt = nil
    slots.leave(self)
    guard !isStopped else { return }
    switch outcome {
    case .settled(let outcome): settle(outcome)
    case .unreachable, .gone:
      machine.abandon()
      tools.feed.counters.add(.channelFailures)
      return onTargetLost(outcome)
    }
    source?.resume()
    record()
    pump()
  }

  private func settle(_ outcome: DeliveryMachine.Outcome) {
    let counters = tools.feed.counters
    switch outcome {
    case .delivered: counters.add(.channelDeliveries)
    case .failed(let reason, _), .refused(let reason):
      counters.add(.channelFailures)
      lastReason = reason
    }
    guard let settlement = machine.ended(outcome, at: tools.now, &chance) else { return }
    pace.settled()
    switch settlement {
    case .delivered: lastReason = nil
    case .retries:
      tools.log.write(
        .info, "A delivery failed and will be repeated.",
        [(.subscription, definition.id), (.reason, lastReason ?? "")])
    case .died:
      counters.add(.channelDeadLetters)
      tools.log.write(
        .warning, "An event was given up; it is kept as a dead letter.",
        [(.subscription, definition.id), (.reason, lastReason ?? "")])
    }
  }

  // MARK: Records

  private var record: ChannelRecord {
    var record = machine.record
    record.term = tools.feed.store.lineage.currentTerm
    return record
  }

  /// Writes the record when it is due, or sets the timer for it.
  private func record(soon: Bool = false) {
    guard !isStopped, let time = pace.time(at: tools.now) else { return }
    recordTimer?.cancel()
    recordTimer = nil
    guard time <= tools.now || soon else {
      recordTimer = tools.schedule(at: time) { [weak self] in self?.record() }
      return
    }
    let bytes = record.bytes
    guard bytes.count <= tools.limits.recordBytes else {
      return fail("its record is larger than the limit channels.recordBytes")
    }
    pace.began(at: tools.now, bytes: bytes.count)
    machine.recording()
    recorder.keep(record: bytes, of: definition.id) { [weak self] result in self?.recorded(result) }
  }

  private func recorded(_ result: Result<Void, StoreError>) {
    switch result {
    case .success:
      pace.ended(true)
      machine.recorded(true)
      ready(nil)
    case .failure(let error):
      pace.ended(false)
      machine.recorded(false)
      tools.log.write(
        .warning, "The position of a subscription could not be recorded.",
        [(.subscription, definition.id), (.reason, error.description)])
    }
    record()
    pump()
  }

  // MARK: Operators

  /// Delivers a dead letter again, or all of them, and what waits for its pause.
  ///
  /// - Returns: how many dead letters that concerns.
  func retry(_ event: String?) -> Int {
    let ids = machine.deadLetters.map(\.event.id).filter { id in event.map { id.utf8.elementsEqual($0.utf8) } ?? true }
    let count = ids.count { machine.redeliver($0) }
    if event == nil { machine.retryNow() }
    changed()
    return count
  }

  /// Forgets a dead letter, or all of them.
  func discard(_ event: String?) -> Int {
    let ids = machine.deadLetters.map(\.event.id).filter { id in event.map { id.utf8.elementsEqual($0.utf8) } ?? true }
    let count = ids.count { machine.discard($0) }
    changed()
    return count
  }

  private func changed() {
    pace.settled()
    record()
    pump()
  }

  /// How it stands, for operators.
  var status: ChannelStatus {
    let isStarting = source?.followed == nil
    let disabled = isStarting || sender.isEnabled(definition.target) ? nil : "its target is not enabled"
    return ChannelStatus(
      definition: definition, isConfigured: isConfigured, isStarting: isStarting,
      position: machine.position, waiting: machine.waitingEvents,
      attempts: machine.attempts, retryTime: machine.retryTime, deadLetters: machine.deadLetters, failure: failure,
      suspension: suspension?.reason ?? disabled, reason: lastReason)
  }
}

/// Why a channel is suspended.
enum ChannelSuspension {
  /// Its owner may not have it now.
  case withdrawn(String)
  /// Its target cannot be delivered to as it is described.
  case unreachable(String)

  var reason: String {
    switch self {
    case .withdrawn(let reason), .unreachable(let reason): reason
    }
  }
}

/// The places of one target, by the channels that wait for one. Confined to its loop.
final class ChannelSlots {
  private var slots: TargetSlots
  private var waiting: [String: Weak] = [:]

  private struct Weak {
    weak var channel: Channel?
  }

  init(limit: Int) {
    slots = TargetSlots(limit: limit)
  }

  /// Whether the channel may send now; otherwise it is pumped when its turn comes.
  func take(_ channel: Channel) -> Bool {
    let id = channel.definition.id
    if slots.take(id) {
      waiting[id] = nil
      return true
    }
    waiting[id] = Weak(channel: channel)
    return false
  }

  /// The channel has ended its attempt, or is gone.
  func leave(_ channel: Channel) {
    waiting[channel.definition.id] = nil
    var next = slots.leave(channel.definition.id)
    while let id = next {
      guard let channel = waiting[id]?.channel else {
        next = slots.leave(id)
        continue
      }
      // In a turn of its own: the one that leaves is in the middle of its own step.
      let bound = LoopBound(channel, on: channel.tools.loop)
      return channel.tools.loop.execute { bound.value.pump() }
    }
  }
}
