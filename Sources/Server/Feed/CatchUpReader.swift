internal import MartletChangeFeed
internal import MartletJSON
internal import MartletStore
internal import MartletVocabulary

/// Brings the members of one subscriber that lag, or have come back, up to where the feed is: from memory, else from
/// the log, a window at a time. They become live inside one turn, when nothing lies between.
///
/// Confined to its loop.
final class CatchUpReader: CatchUpWaiting {
  private unowned let subscriber: any Subscriber
  private unowned let feed: Feed
  private var members: [Member] = []
  /// The changes under way: each is tried on each participant before the next, one by one.
  private var changes: [Change] = []
  private var nextChange = 0
  private var nextParticipant = 0
  /// The members the changes were read for; those that joined since are not served by them.
  private var participants: [Member] = []
  /// Of each participant, its last change of the transaction under way. Whether it gets a later one of the same
  /// transaction decides the transaction mark of this one.
  private var held: [Change?] = []
  /// What is sent next; at most two for one change and participant.
  private var due: [(member: Member, change: Change)] = []
  /// The offset that the participants have been served up to when the changes are done.
  private var windowEnd: Int64 = 0
  private var isWaiting = false
  /// Whether the feed continues this reader in a later turn.
  var isQueued = false
  private var isOver = false
  private var writer = JSONWriter()

  var memberCount: Int { members.count }

  init(_ subscriber: any Subscriber, in feed: Feed) {
    self.subscriber = subscriber
    self.feed = feed
  }

  /// Takes on a member that is to read on from `member.since`.
  func add(_ member: Member) {
    member.isCatchingUp = true
    members.append(member)
  }

  func remove(_ member: Member) {
    member.isCatchingUp = false
    members.removeAll { $0 === member }
  }

  /// The subscriber has ended.
  func stop() {
    isOver = true
    members = []
    participants = []
    changes = []
    held = []
    due = []
  }

  /// Writes as much as the subscriber has room for, and the turn for catch-ups.
  func pump() {
    // Readers that wait for a turn are continued in their order.
    guard !isQueued else { return }
    while !isWaiting, !isOver, !members.isEmpty {
      guard subscriber.hasRoom else { return subscriber.continueNextTurn() }
      guard feed.catchUps.mayWork else { return feed.catchUps.queue(self) }
      if !due.isEmpty {
        sendNext()
        continue
      }
      if nextChange < changes.count {
        step()
        continue
      }
      guard !releaseHeld() else { continue }
      for member in participants where member.isCatchingUp && member.since < windowEnd { member.since = windowEnd }
      participants = []
      changes = []
      nextChange = 0
      nextParticipant = 0
      readNext()
    }
    if members.isEmpty, !isWaiting, !isOver { feed.end(subscriber) }
  }

  /// Tries the next change on the next participant.
  private func step() {
    guard nextParticipant < participants.count else {
      nextChange += 1
      nextParticipant = 0
      return
    }
    let (index, change) = (nextParticipant, changes[nextChange])
    let member = participants[index]
    nextParticipant += 1
    feed.catchUps.spend(CatchUpTurn.comparison)
    guard member.isCatchingUp else { return }
    if change.offset > member.since, member.group?.concerns(change) == true {
      if let earlier = held[index] { due.append((member, earlier.marked(endsTransaction: false))) }
      held[index] = change
    }
    guard change.endsTransaction, let last = held[index] else { return }
    held[index] = nil
    due.append((member, last.marked(endsTransaction: true)))
  }

  /// Changes that are read are whole transactions; should one be cut, what is held of it is sent without a mark.
  ///
  /// - Returns: whether there was anything.
  private func releaseHeld() -> Bool {
    for index in held.indices {
      guard let change = held[index] else { continue }
      held[index] = nil
      due.append((participants[index], change.marked(endsTransaction: false)))
    }
    return !due.isEmpty
  }

  private func sendNext() {
    let (member, change) = due.removeFirst()
    guard member.isCatchingUp, let group = member.group, let id = member.id?.group else { return }
    feed.catchUps.spend(CatchUpTurn.event)
    if let event = feed.caughtUpEvents.event(change, for: group) { return send(event, to: member) }
    writer = JSONWriter(reusing: writer.bytes)
    if group.encode(change, into: &writer) {
      feed.counters.add(.payloadEncodings)
      let event = feed.event(change, writer.bytes, for: group)
      if feed.index.members(of: id).count > 1 { feed.caughtUpEvents.add(event, of: change, for: group) }
      return send(event, to: member)
    }
    guard let key = feed.index.key(of: id) else { return }
    isWaiting = true
    feed.evaluations.evaluate(change, group, key) { [weak self] payload in
      guard let self, !self.isOver else { return }
      self.isWaiting = false
      self.send(self.feed.event(change, payload, for: group), to: member)
      self.pump()
    }
  }

  private func send(_ event: FeedEvent, to member: Member) {
    guard member.isCatchingUp else { return }
    subscriber.write(event, to: member)
    member.since = event.offset
    feed.counters.add(.deliveries)
  }

  /// Takes the step that `CatchUp` decides for the member with the smallest offset.
  private func readNext() {
    participants = members
    held = Array(repeating: nil, count: participants.count)
    let from = members.map(\.since).min() ?? feed.applied
    switch CatchUp.next(from: feed.cursor(at: from), in: feed.situation) {
    case .live: goLive()
    case .ring(let offset):
      // The ring may have dropped the offset in this moment; then the next step reads the log.
      let batches = feed.store.recent.batches(after: offset, bytes: feed.limits.catchUpBytes) ?? []
      changes = batches.flatMap { $0.changes.after(offset) }
      windowEnd = batches.last?.lastOffset ?? from
    case .log(let offset):
      if let page = feed.pages.page(after: offset) {
        changes = Array(page.changes)
        // Entries that subscribers cannot see may follow.
        windowEnd = page.last
        for (model, offset) in page.lost { declareLoss(of: model, at: offset) }
      } else {
        readLog(after: offset)
      }
    case .gap(let reason): declareGap(reason, upTo: from)
    }
  }

  private func readLog(after offset: Int64) {
    isWaiting = true
    feed.pages.read(after: offset) { [weak self] gap in
      guard let self, !self.isOver else { return }
      self.isWaiting = false
      if let gap { self.declareGap(gap, upTo: offset) }
      self.pump()
    }
  }

  private func goLive() {
    let ready = members
    members = []
    participants = []
    windowEnd = 0
    for member in ready {
      member.isCatchingUp = false
      feed.sayReady(member)
    }
  }

  /// A change at `offset` is of a model that was dropped and is there again, and cannot be shown. Members of that model
  /// that have not seen it continue where the feed is.
  private func declareLoss(of model: Int, at offset: Int64) {
    for member in members where member.since < offset && member.group?.follows(model) == true {
      remove(member)
      feed.declareGap(member, .schemaChange, from: feed.cursor(at: member.since))
    }
  }

  /// The log does not have what followed: members at or before `offset` continue where the feed is.
  private func declareGap(_ reason: GapReason, upTo offset: Int64) {
    for member in members where member.since <= offset {
      remove(member)
      feed.declareGap(member, reason, from: feed.cursor(at: member.since))
    }
  }
}
