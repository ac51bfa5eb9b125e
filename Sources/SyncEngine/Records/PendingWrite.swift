package import MartletModels

/// A local write that the server has not acknowledged.
package struct PendingWrite: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    case create(Record)
    case update([FieldPatch])
    case delete
  }

  /// The client's number of the write, ascending. The server applies a number once.
  package var number: Int64
  package var content: Content
  /// What must hold for the server's record; such a write is never merged with another.
  package var condition: Predicate?
  /// Whether it has been sent at least once. It is then fixed: a resend has the same content.
  package var isSent = false
  /// Times the application answered a conflict of this write with a retry.
  package var conflicts = 0
  /// The record that the server has where a creation was to be, and that this store's selection leaves out: the
  /// creation is sent as an update of it.
  package var over: Record?

  package init(number: Int64, content: Content, condition: Predicate? = nil) {
    self.number = number
    self.content = content
    self.condition = condition
  }

  /// The record after the write; nil for none.
  func applied(to record: Record?) -> Record? {
    switch content {
    case .create(let record): return record
    case .delete: return nil
    case .update(let patches):
      guard var record else { return nil }
      for patch in patches where patch.field < record.values.count { record.values[patch.field] = patch.new }
      return record
    }
  }
}

/// A record as the server has it.
package struct ServerImage: Sendable, Hashable {
  /// The values; nil for a record that was deleted, or that the caller may no longer read.
  package var record: Record?
  /// The server's version of the record.
  package var version: Int64
  /// What orders images of one record: the change's offset in our server's log, the version for a foreign server.
  package var position: Int64
  /// The record that a write has met at the server and that this store's selection leaves out. A write can be made
  /// again on it; it is never shown.
  package var hidden: Record?

  package init(record: Record?, version: Int64, position: Int64) {
    self.record = record
    self.version = version
    self.position = position
  }
}

/// A write that the server refused for good, kept for the application.
package struct DeadLetter: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// The server has another version, and the conflict was resolved in its favour.
    case conflict
    /// The write's condition does not hold for the server's record.
    case conditionFailed
    /// The caller may not write this, with fresh credentials as well.
    case unauthorized
    /// The server refused the write.
    case refused(code: String, message: String)
    /// The write needs an earlier one of the same record that was refused.
    case dependsOn(number: Int64)

    /// Whether the write was certainly not applied.
    var isOutcomeKnown: Bool {
      if case .refused("OUTCOME_FORGOTTEN", _) = self { false } else { true }
    }
  }

  package var write: PendingWrite
  package var reason: Reason

  package init(write: PendingWrite, reason: Reason) {
    self.write = write
    self.reason = reason
  }
}
