internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

extension SessionOperations: Subscriber {
  func members(of feed: Feed) -> [Member] {
    operations.entries.compactMap { _, operation in
      if case .member(let member) = operation { member } else { nil }
    }
  }

  /// Appends an event's frame to the connection's outgoing bytes. Nothing is allocated.
  func write(_ event: FeedEvent, to member: Member) {
    link.write(GraphQLEvent.of(event), to: member)
  }

  func write(_ events: [FeedEvent], from first: Int, to member: Member) {
    link.write(events, from: first, to: member)
  }

  // MARK: Backlog

  var hasRoom: Bool { link.pendingBytes < service.node.limits.session.catchUpBytes }

  var isLagging: Bool { link.pendingBytes > link.highWaterBytes }

  /// Looks again after this turn's send: either there is room then, or `resume` is called later.
  func continueNextTurn() {
    guard !isResumeScheduled else { return }
    isResumeScheduled = true
    let bound = LoopBound(self, on: service.loop)
    service.loop.execute {
      bound.value.isResumeScheduled = false
      if bound.value.hasRoom { bound.value.resume() }
    }
  }

  /// The connection has room: continues catch-ups and source streams.
  func resume() {
    service.feed.resume(self)
    resumeStreams()
  }

  // MARK: Progress

  func caughtUp(_ member: Member, at cursor: Cursor) {
    let view = (member.group as? GraphQLGroup)?.view
    link.step { machine, actions in machine.ready(member.number, cursor, view: view, actions: &actions) }
  }

  /// Reports what a member has lost. In the plain protocol that is an error, which ends the operation.
  func gap(_ member: Member, _ reason: GapReason, from: Cursor?, to: Cursor) {
    guard member.hasCursors else {
      stop(member.number)
      return link.fail(
        member.number,
        [
          ResponseError(
            "Events were lost: \(reason.rawValue).", extensions: ["code": "GAP", "reason": .string(reason.rawValue)])
        ])
    }
    let gap = SubscriptionGap(reason: reason.wireName, from: from, to: to)
    link.step { machine, actions in machine.gap(member.number, gap, actions: &actions) }
  }
}

extension GapReason {
  /// The reason's name on the wire (docs/PROTOCOL.md).
  var wireName: String {
    switch self {
    case .retention: "retention"
    case .unknownTerm, .beyondTerm: "lineage"
    case .schemaChange: "schema"
    case .viewChanged: "view-changed"
    case .damage: "damage"
    }
  }
}
