/// One change of the log that subscribers can see.
///
/// The log also holds entries that only the store reads (outcomes of numbered writes, terms, schema changes, horizons).
/// They take offsets too, so offsets of consecutive changes grow but need not be consecutive.
package struct Change: Sendable {
  /// What a change is about: one case for each participant of a transaction.
  package enum Body: Sendable {
    case record(RecordChange)
    case event(TopicEvent)
    case tree(TreeChange)
  }

  /// Number in commit order, from 1.
  package private(set) var offset: Int64
  /// Whether this is the last change of its transaction. Subscribers get a mark of their own: it stands on the last
  /// change of the transaction that matches for them.
  package private(set) var endsTransaction: Bool
  package let body: Body
  /// When its group was committed, in milliseconds since 1970.
  package let time: Int64

  package init(offset: Int64, endsTransaction: Bool, body: Body, time: Int64 = 0) {
    self.time = time
    self.offset = offset
    self.endsTransaction = endsTransaction
    self.body = body
  }

  /// Gives the change its place in the log.
  package mutating func place(at offset: Int64, endsTransaction: Bool) {
    self.offset = offset
    self.endsTransaction = endsTransaction
  }

  /// The same change with another mark.
  package func marked(endsTransaction: Bool) -> Change {
    endsTransaction == self.endsTransaction
      ? self : Change(offset: offset, endsTransaction: endsTransaction, body: body, time: time)
  }

  /// The record's change; nil for another one.
  package var record: RecordChange? {
    if case .record(let change) = body { return change }
    return nil
  }

  /// The tree's change; nil for another one.
  package var tree: TreeChange? {
    if case .tree(let change) = body { return change }
    return nil
  }

  /// The application's event; nil for another change.
  package var event: TopicEvent? {
    if case .event(let event) = body { return event }
    return nil
  }
}
