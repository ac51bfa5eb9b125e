package import MartletVocabulary

/// How a member gets from where it is to where its loop is.
///
/// Asked again after each step, within one synchronous turn of the loop: the member goes live in the turn in which the
/// answer is `live`, so no batch can pass between.
package enum CatchUp: Sendable, Equatable {
  /// Deliver what the loop applies from now on, but nothing up to `offset`: a member may come from a loop that was
  /// ahead.
  case live(after: Int64)
  /// Read behind `offset` from the ring.
  case ring(after: Int64)
  /// Read behind `offset` from the log, at most to `end`: there the ring takes over.
  case log(after: Int64, through: Int64)
  /// What follows the cursor cannot be told any more. Say so, then go live after `resumeAt`.
  case gap(GapReason, resumeAt: Cursor)

  /// What the decision rests on.
  package struct Situation: Sendable {
    package var lineage: Lineage
    /// The first offset the log still has.
    package var firstKept: Int64
    /// The last offset in the log.
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
    case .gap(let reason):
      let place = Cursor(term: situation.lineage.currentTerm, offset: situation.applied)
      return .gap(reason, resumeAt: place)
    case .valid:
      if cursor.offset >= situation.applied { return .live(after: cursor.offset) }
      if let ringFirst = situation.ringFirst, ringFirst <= cursor.offset + 1 { return .ring(after: cursor.offset) }
      // Up to where the ring begins, but never beyond what the loop has applied: the rest comes live.
      let end = min(situation.ringFirst.map { $0 - 1 } ?? situation.applied, situation.applied)
      return .log(after: cursor.offset, through: end)
    }
  }
}

extension ChangeBatch {
  /// The position of the first change to send to a member that has seen everything up to `offset`.
  ///
  /// It is the first change of its transaction: a member that stopped inside one gets it again from its start and drops
  /// what it has seen, for a transaction is never shown by half. `changes.count` when nothing follows.
  package func start(after offset: Int64) -> Int {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].offset > offset { high = middle } else { low = middle + 1 }
    }
    guard low < changes.count else { return low }
    while low > 0, !changes[low - 1].endsTransaction { low -= 1 }
    return low
  }

  /// The position behind the transaction that the change at `position` belongs to.
  package func endOfTransaction(at position: Int) -> Int {
    var end = position
    while end < changes.count {
      end += 1
      if changes[end - 1].endsTransaction { break }
    }
    return end
  }
}

/// Where a connection's subscriptions are complete, for its keep-alive pings: a subscription that matches nothing for
/// hours must not fall out of retention.
package enum Progress {
  /// All subscriptions are complete up to here: the loop's place, or that of the slowest member that is catching up.
  package static func position(applied: Int64, catchingUp: some Sequence<Int64>) -> Int64 {
    catchingUp.reduce(applied) { min($0, $1) }
  }
}
