internal import MartletChangeFeed
internal import MartletJSON
internal import MartletStore
internal import MartletVocabulary

/// Brings the members of one subscriber that lag, or have come back, up to where the feed is: from memory, else from
/// the log, a window at a time. They become live inside one turn, when nothing lies between.
///
/// Confined to its loop.
final class CatchUpReader {
  private unowned let subscriber: any Subscriber
  private unowned let feed: Feed
  private var members: [Member] = []
  /// What is sent next: which member gets which change.
  private var queue: [(member: Member, change: Change)] = []
  private var next = 0
  /// Of each participant, the position in the queue of its last change of the transaction that is being queued.
  private var lastQueued: [Int?] = []
  /// The members the queue was made for; those that joined since are not served by it.
  private var participants: [Member] = []
  private var queueEnd: Int64 = 0
  private var isWaiting = false
  private var isOver = false
  private var writer = JSONWriter()

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
    queue = []
  }

  /// Writes as much as the subscriber has room for.
  func pump() {
    while !isWaiting, !isOver, !members.isEmpty {
      guard subscriber.hasRoom else { return subscriber.continueNextTurn() }
      if next < queue.count {
        sendNext()
        continue
      }
      for member in participants where member.isCatchingUp && member.since < queueEnd { member.since = queueEnd }
      participants = []
      queue.removeAll(keepingCapacity: true)
      next = 0
      readNext()
    }
    if members.isEmpty, !isWaiting, !isOver { feed.end(subscriber) }
  }

  private func sendNext() {
    let (member, change) = queue[next]
    guard member.isCatchingUp, change.offset > member.since, let group = member.group, let id = member.id?.group else {
      next += 1
      return
    }
    writer = JSONWriter(reusing: writer.bytes)
    if group.encode(change, into: &writer) {
      send(feed.event(change, writer.bytes, for: group), to: member)
      return
    }
    isWaiting = true
    feed.evaluate(change, group, id) { [weak self] payload in
      guard let self, !self.isOver else { return }
      self.isWaiting = false
      self.send(self.feed.event(change, payload, for: group), to: member)
      self.pump()
    }
  }

  private func send(_ event: FeedEvent, to member: Member) {
    next += 1
    guard member.isCatchingUp else { return }
    subscriber.write(event, to: member)
    member.since = event.offset
    feed.counters.add(.deliveries)
  }

  /// Takes the step that `CatchUp` decides for the member with the smallest offset.
  private func readNext() {
    participants = members
    let from = members.map(\.since).min() ?? feed.applied
    switch CatchUp.next(from: feed.cursor(at: from), in: feed.situation) {
    case .live: goLive()
    case .ring(let offset):
      // The ring may have dropped the offset in this moment; then the next step reads the log.
      let batches = feed.store.recent.batches(after: offset, bytes: feed.limits.catchUpBytes) ?? []
      for batch in batches { enqueue(batch.changes.after(offset), through: batch.lastOffset) }
    case .log(let offset):
      if let page = feed.pages.page(after: offset) {
        enqueue(page.changes, through: page.last)
      } else {
        readLog(after: offset)
      }
    case .gap(let reason): declareGap(reason, upTo: from)
    }
  }

  /// Queues what each member gets of the changes up to `last`, or up to the end of a transaction when they are many.
  /// The changes are whole transactions; a member's mark stands on the last change of a transaction that it gets.
  private func enqueue(_ changes: ArraySlice<Change>, through last: Int64) {
    if queue.count >= feed.limits.catchUpChanges { return }
    lastQueued.removeAll(keepingCapacity: true)
    lastQueued.append(contentsOf: repeatElement(nil, count: participants.count))
    for change in changes {
      for index in participants.indices {
        let member = participants[index]
        guard change.offset > member.since, member.group?.concerns(change) == true else { continue }
        lastQueued[index] = queue.count
        queue.append((member, change.marked(endsTransaction: false)))
      }
      queueEnd = change.offset
      guard change.endsTransaction else { continue }
      for index in lastQueued.indices {
        guard let position = lastQueued[index] else { continue }
        queue[position].change = queue[position].change.marked(endsTransaction: true)
        lastQueued[index] = nil
      }
      if queue.count >= feed.limits.catchUpChanges { return }
    }
    // Entries that subscribers cannot see may follow.
    queueEnd = last
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
    queueEnd = 0
    for member in ready {
      member.isCatchingUp = false
      feed.sayReady(member)
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
