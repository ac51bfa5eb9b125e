package import MartletVocabulary

/// How a member gets from where it is to where its loop is.
///
/// Asked again after each step, within one synchronous turn of the loop: the member goes live in the turn in which the
/// answer is `live`, so no batch can pass between.
package enum CatchUp: Sendable, Equatable {
  /// Deliver what the loop applies from now on.
  case live
  /// Read the changes after the offset from the ring.
  case ring(after: Int64)
  /// Read the changes after the offset from the log.
  case log(after: Int64)
  /// What follows the cursor cannot be read. Report it, then go live.
  case gap(GapReason)

  /// What the decision rests on.
  package struct Situation: Sendable {
    package var lineage: Lineage
    /// The first offset the log still has.
    package var firstKept: Int64
    /// The last offset in the log, a group that has not been handed out included: a member may have read it.
    package var head: Int64
    /// The last offset this loop has applied to its index; at most `head`.
    package var applied: Int64
    /// The first offset the ring has; nil while it is empty.
    package var ringFirst: Int64?

    package init(lineage: Lineage, firstKept: Int64, head: Int64, applied: Int64, ringFirst: Int64?) {
      self.lineage = lineage
      self.firstKept = firstKept
      self.head = head
      self.applied = applied
      self.ringFirst = ringFirst
    }
  }

  /// The next step for a member at `cursor`.
  package static func next(from cursor: Cursor, in situation: Situation) -> CatchUp {
    switch situation.lineage.judge(cursor, firstKept: situation.firstKept, head: situation.head) {
    case .gap(let reason): return .gap(reason)
    case .valid:
      // A member may come from a loop that was ahead of this one.
      if cursor.offset >= situation.applied { return .live }
      if let ringFirst = situation.ringFirst, ringFirst <= cursor.offset + 1 { return .ring(after: cursor.offset) }
      return .log(after: cursor.offset)
    }
  }
}

/// Where a connection's subscriptions are complete, for its keep-alive pings: a subscription that matches nothing for
/// hours must not fall out of retention.
package enum Progress {
  /// All subscriptions are complete up to here: where the loop is, or the slowest member that is catching up.
  package static func position(applied: Int64, catchingUp: some Sequence<Int64>) -> Int64 {
    catchingUp.reduce(applied) { min($0, $1) }
  }
}
