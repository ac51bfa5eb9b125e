internal import MartletChangeFeed
internal import MartletGraphQLWire
internal import MartletVocabulary

/// Where the events of a new member begin: now, after the cursor of a resume, or with the oldest one that is kept.
struct MemberStart {
  let member: Member
  let link: SessionLink

  private var feed: Feed { link.service.feed }

  /// Whether the events after a resume's cursor can all be sent is decided before anything is sent.
  func begin(_ continuity: RequestContinuity) {
    let asked = member.hasCursors ? continuity : RequestContinuity()
    if let resume = asked.resume {
      let present = (member.group as? GraphQLGroup)?.view
      guard present.map({ Array($0.utf8) }) == asked.view.map({ Array($0.utf8) }) else {
        return feed.declareGap(member, otherHistory(resume) ?? .viewChanged, from: resume, owesReady: true)
      }
      return begin(after: resume)
    }
    if asked.fromOldest { return catchUp(after: feed.beforeOldest) }
    // A reserved stream's client asked a moment ago, with the rights that it has now.
    guard let cursor = link.stream?.startsBehind else { return feed.begin(member) }
    begin(after: cursor)
  }

  /// A client that has seen what this log does not have must learn that first: no offset that it knows means anything.
  private func otherHistory(_ resume: Cursor) -> GapReason? {
    switch feed.judge(resume) {
    case .gap(let reason) where reason == .unknownTerm || reason == .beyondTerm: reason
    case .gap, .valid: nil
    }
  }

  private func begin(after resume: Cursor) {
    switch feed.judge(resume) {
    case .gap(let reason): feed.declareGap(member, reason, from: resume, owesReady: true)
    case .valid: catchUp(after: resume.offset)
    }
  }

  private func catchUp(after offset: Int64) {
    link.step { $0.catchesUp(member.number, actions: &$1) }
    feed.catchUp(member, after: offset)
  }
}
