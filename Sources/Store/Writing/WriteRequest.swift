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

  package init(
    _ operation: WriteOperation, writeNumber: WriteNumber? = nil, acknowledged: Int64? = nil, isResend: Bool = false
  ) {
    self.operation = operation
    self.writeNumber = writeNumber
    self.acknowledged = acknowledged
    self.isResend = isResend
  }
}

/// What a write does. Models are named by their number, fields by their position in the model.
package indirect enum WriteOperation: Sendable {
  /// Adds a record, which must not exist.
  case create(model: Int, record: Record)
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
