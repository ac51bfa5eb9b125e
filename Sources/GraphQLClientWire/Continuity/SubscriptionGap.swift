package import MartletVocabulary

/// The honest answer when nothing can fill the hole between what a subscriber saw and what comes next.
package struct SubscriptionGap: Equatable, Sendable {
  /// Why, as one word of the protocol document: `retention`, `lineage`, `overflow`; others may follow.
  package var reason: String
  /// The last place the subscriber had seen; nil when it named none.
  package var from: Cursor?
  /// Delivery continues after this cursor.
  package var to: Cursor

  package init(reason: String, from: Cursor?, to: Cursor) {
    self.reason = reason
    self.from = from
    self.to = to
  }
}

/// Where one subscription stands on its client.
package struct SubscriptionPosition: Equatable, Sendable {
  /// Everything up to here has been seen; this is what a resume names. It moves only at marks: at the end of a
  /// transaction, at `ready`, at a keep-alive's position, at a gap.
  package var cursor: Cursor?
  /// The offset of the newest event delivered, possibly inside a transaction: what is not newer is a repeat.
  package var delivered: Int64
  /// What the server said last about what the client's rights let it see; a resume repeats it.
  package var view: String?

  package init(cursor: Cursor? = nil, delivered: Int64 = 0, view: String? = nil) {
    self.cursor = cursor
    self.delivered = delivered
    self.view = view
  }

  /// Whether an event at `offset` has not been delivered before.
  package func isNew(_ offset: Int64) -> Bool { offset > delivered }

  /// An event was delivered. Its cursor becomes the position when it ends a transaction.
  package mutating func passed(_ cursor: Cursor, endsTransaction: Bool) {
    delivered = max(delivered, cursor.offset)
    if endsTransaction { self.cursor = cursor }
  }

  /// Everything up to `cursor` has been sent.
  package mutating func reached(_ cursor: Cursor) {
    guard cursor.offset >= self.cursor?.offset ?? 0 else { return }
    self.cursor = cursor
    delivered = max(delivered, cursor.offset)
  }

  /// A hole was admitted; repeats are counted from its end, which a restored older log may have put further back.
  package mutating func jumped(over gap: SubscriptionGap) {
    cursor = gap.to
    delivered = gap.to.offset
  }
}
