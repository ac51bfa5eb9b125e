package import MartletJSON
package import MartletModels
package import MartletVocabulary

/// One write: all of it happens, or nothing.
package struct WriteRequest: Sendable {
  package var operation: WriteOperation
  /// Makes a resend harmless; without one the write must not be sent twice.
  package var writeNumber: WriteNumber?
  /// The client has the answers to all its writes up to this number: their outcomes can be forgotten. Nil from a
  /// client that does not say; the store then keeps the newest outcomes only.
  package var acknowledged: Int64?
  /// Whether the client has sent this write before. A store that no longer knows the client refuses such a write.
  package var isResend: Bool
  /// How many changes of single records it asks for: its share of the writer's time.
  package var size: Int

  /// - Parameter size: The number of operations that a closure makes, where it is known; nil counts what is listed.
  package init(
    _ operation: WriteOperation, size: Int? = nil, writeNumber: WriteNumber? = nil, acknowledged: Int64? = nil,
    isResend: Bool = false
  ) {
    self.operation = operation
    self.size = size ?? operation.listed
    self.writeNumber = writeNumber
    self.acknowledged = acknowledged
    self.isResend = isResend
  }
}

/// What a write does. Models are named by their number, fields by their position in the model.
package indirect enum WriteOperation: Sendable {
  /// Adds a record, which must not exist. `draft` is what `Store.drafted` has prepared of it.
  case create(model: Int, record: Record, draft: RecordDraft? = nil)
  /// Changes some fields of a record, which must exist.
  case update(RecordUpdate)
  /// Removes a record, which must exist, and its children where the schema says so.
  case delete(model: Int, key: RecordKey, condition: Predicate = .all, expectedVersion: Int64? = nil)
  /// Appends an event of the application's own to the log.
  case event(topic: String, payload: JSONValue)
  /// Several operations, in order.
  case batch([WriteOperation])
  /// Application code that reads and writes. It runs on the writer, cannot wait for anything and has a time limit.
  case transaction(@Sendable (WriteTransaction) throws -> Void)
  /// Work of the server's own, one transaction whose size is bounded where it comes from. It has no time limit: whether
  /// it is done must not depend on how busy the machine is.
  case work(@Sendable (WriteTransaction) throws -> Void)
  /// Work of the server's own that bounds itself: several transactions in one commit, each within
  /// `WriteTransaction.separately`.
  case series(@Sendable (WriteTransaction) throws -> Void)

  /// What was prepared of a record to be created.
  package var draft: RecordDraft? {
    if case .create(_, _, let draft) = self { return draft }
    return nil
  }

  /// The operations that can be counted without running it.
  var listed: Int {
    switch self {
    case .create, .update, .delete, .event, .transaction, .work, .series: 1
    case .batch(let operations): operations.reduce(0) { $0 + $1.listed }
    }
  }
}

/// A change of some fields of one record.
package struct RecordUpdate: Sendable {
  package var model: Int
  package var key: RecordKey
  /// The new values, by field position; fields of the key cannot change.
  package var values: [(field: Int, value: JSONValue)]
  /// Must hold for the record as it is.
  package var condition: Predicate
  /// Must be the record's version when given.
  package var expectedVersion: Int64?

  package init(
    model: Int, key: RecordKey, values: [(field: Int, value: JSONValue)], condition: Predicate = .all,
    expectedVersion: Int64? = nil
  ) {
    self.model = model
    self.key = key
    self.values = values
    self.condition = condition
    self.expectedVersion = expectedVersion
  }
}
