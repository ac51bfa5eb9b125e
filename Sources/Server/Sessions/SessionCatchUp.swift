internal import MartletChangeFeed
internal import MartletJSON
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// Brings the members of one session that have fallen behind, or have come back, up to the loop's place: from memory,
/// else from the log, a window at a time. They turn live inside one turn, when nothing lies between.
///
/// Confined to its loop.
final class SessionCatchUp {
  private unowned let session: GraphQLSession
  private let hub: LoopHub
  private var members: [Member] = []
  /// What is to be sent next: who gets which change.
  private var queue: [(member: Member, change: Change)] = []
  private var next = 0
  /// For whom the queue was made; members that joined since are not served by it.
  private var participants: [Member] = []
  private var queueEnd: Int64 = 0
  private var isWaiting = false
  private var isOver = false
  private var writer = JSONWriter()

  init(_ session: GraphQLSession) {
    self.session = session
    hub = session.hub
  }

  var isEmpty: Bool { members.isEmpty }

  /// Takes on a member that is to read on from `member.since`.
  func add(_ member: Member) {
    member.isCatchingUp = true
    members.append(member)
  }

  func remove(_ member: Member) {
    member.isCatchingUp = false
    members.removeAll { $0 === member }
  }

  /// The session has ended.
  func stop() {
    isOver = true
    members = []
    participants = []
    queue = []
  }

  /// Goes on as far as the socket takes it.
  func pump() {
    while !isWaiting, !isOver, !members.isEmpty {
      guard session.hasRoom else { return session.pumpNextTurn() }
      if next < queue.count {
        sendNext()
        continue
      }
      for member in participants where member.isCatchingUp && member.since < queueEnd { member.since = queueEnd }
      participants = []
      queue.removeAll(keepingCapacity: true)
      next = 0
      step()
    }
  }

  private func sendNext() {
    let (member, change) = queue[next]
    guard member.isCatchingUp, change.offset > member.since, let group = member.group else {
      next += 1
      return
    }
    writer = JSONWriter(reusing: writer.bytes)
    if group.encode(change, into: &writer) {
      send(hub.event(change, payload: writer.bytes), to: member)
      return
    }
    isWaiting = true
    hub.evaluate(change, group) { [weak self] payload in
      guard let self, !self.isOver else { return }
      self.isWaiting = false
      self.send(self.hub.event(change, payload: payload), to: member)
      self.pump()
    }
  }

  private func send(_ event: EncodedEvent, to member: Member) {
    next += 1
    guard member.isCatchingUp else { return }
    session.write(event, to: member)
    member.since = event.offset
    hub.counters.add(.deliveries)
  }

  /// Goes where the feed says the member that is furthest behind has to go next.
  private func step() {
    participants = members
    let from = members.map(\.since).min() ?? hub.applied
    switch CatchUp.next(from: Cursor(term: hub.cursor.term, offset: from), in: hub.situation) {
    case .live: goLive()
    case .ring(let offset):
      let batches = hub.node.store.recent.batches(after: offset, bytes: hub.node.limits.catchUpBytes) ?? []
      // The ring may have let go of it in this moment; then the next step reads the log.
      for batch in batches { enqueue(batch.changes.following(offset)) }
    case .log(let offset, _):
      if let changes = hub.pages.changes(after: offset) { enqueue(changes) } else { read(behind: offset) }
    case .gap(let reason, _): declareGap(reason, behind: from)
    }
  }

  /// Queues what each member gets of some changes, up to the end of a transaction when they are many.
  private func enqueue(_ changes: ArraySlice<Change>) {
    if queue.count >= hub.node.limits.catchUpChanges { return }
    for change in changes {
      for member in participants where change.offset > member.since && member.group?.concerns(change) == true {
        queue.append((member, change))
      }
      queueEnd = change.offset
      if queue.count >= hub.node.limits.catchUpChanges, change.endsTransaction { return }
    }
  }

  private func read(behind offset: Int64) {
    isWaiting = true
    hub.readLog(after: offset) { [weak self] gap in
      guard let self, !self.isOver else { return }
      self.isWaiting = false
      if let gap { self.declareGap(gap, behind: offset) }
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
      if member.owesReady {
        member.owesReady = false
        session.sayReady(member)
      }
    }
  }

  /// The log no longer says what followed: whoever stood there hears so and goes on at the loop's place.
  private func declareGap(_ reason: GapReason, behind from: Int64) {
    for member in members where member.since <= from {
      remove(member)
      session.declareGap(member, reason, from: Cursor(term: hub.cursor.term, offset: member.since))
    }
  }
}
