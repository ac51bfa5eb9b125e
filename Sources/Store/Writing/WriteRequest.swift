package import MartletJSON
package import MartletModelSchema

/// A client's number for one of its writes: a resend with the same one is applied once.
package struct WriteID: Hashable, Sendable {
  /// The client's own random name, kept over its restarts.
  package var client: String
  /// The client's count of its writes.
  package var number: Int64

  package init(client: String, number: Int64) {
    self.client = client
    self.number = number
  }
}

/// One write: all of it happens, or nothing.
package struct WriteRequest: Sendable {
  package var operation: WriteOperation
  /// Makes a resend harmless; without one the write must not be sent twice.
  package var writeID: WriteID?

  package init(_ operation: WriteOperation, writeID: WriteID? = nil) {
    self.operation = operation
    self.writeID = writeID
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
