internal import MartletChangeFeed
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// Brings the members of one session that have fallen behind, or have come back, up to the loop's place: from memory,
/// else from the log, a window at a time. They turn live inside one turn, when nothing lies between.
///
/// Confined to its loop.
final class CatchUp {
  private unowned let session: GraphQLSession
  private let hub: LoopHub
  private var members: [Member] = []
  /// What is to be sent next: who gets which change.
  private var queue: [(member: Member, change: Change)] = []
  private var next = 0
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
      for member in members where member.since < queueEnd { member.since = queueEnd }
      queue.removeAll(keepingCapacity: true)
      next = 0
      let from = members.map(\.since).min() ?? hub.applied
      if from >= hub.applied { return goLive() }
      refill(from)
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

  /// Looks at the next stretch of changes, in memory or after reading it.
  private func refill(_ from: Int64) {
    if let (changes, upTo) = hub.history.changes(after: from) {
      queueEnd = upTo
      for change in changes {
        for member in members where change.offset > member.since && member.group?.concerns(change) == true {
          queue.append((member, change))
        }
        if queue.count >= hub.node.limits.catchUpChanges, change.endsTransaction {
          queueEnd = change.offset
          break
        }
      }
      return
    }
    isWaiting = true
    hub.readLog(after: from) { [weak self] gap in
      guard let self, !self.isOver else { return }
      self.isWaiting = false
      if let gap { self.declareGap(gap, behind: from) }
      self.pump()
    }
  }

  private func goLive() {
    let ready = members
    members = []
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
