/// The operations of a client in a dialect without places: what is open, what was sent, in which order.
struct ClientOperationTable: Sendable {
  struct Operation: Sendable {
    var request: RequestPayload
    var repetition: OperationRepetition
    /// Sent on this session.
    var isSent = false
    /// Its place in the order of sending.
    var order: Int
  }

  private var operations: [OperationID: Operation] = [:]
  private var lastOrder = 0

  var count: Int { operations.count }

  subscript(id: OperationID) -> Operation? { operations[id] }

  var inOrder: [OperationID] {
    operations.sorted { $0.value.order < $1.value.order }.map(\.key)
  }

  /// Whether the server of this session can know the operation.
  func isSent(_ id: OperationID) -> Bool { operations[id]?.isSent == true }

  mutating func add(_ id: OperationID, _ request: RequestPayload, _ repetition: OperationRepetition) {
    precondition(operations[id] == nil, "an id is unique among open operations")
    lastOrder += 1
    operations[id] = Operation(request: request, repetition: repetition, order: lastOrder)
  }

  mutating func remove(_ id: OperationID) -> Operation? { operations.removeValue(forKey: id) }

  mutating func markSent(_ id: OperationID, _ isSent: Bool = true) { operations[id]?.isSent = isSent }

  /// The session is over: what may not be sent again is taken out and answered, in order.
  mutating func endSession() -> [OperationID] {
    var lost: [OperationID] = []
    for id in inOrder {
      guard let operation = operations[id], operation.isSent else { continue }
      switch operation.repetition {
      case .always: operations[id]?.isSent = false
      // These dialects do not agree on write numbers.
      case .never, .ifWritesAreAgreed:
        operations[id] = nil
        lost.append(id)
      }
    }
    return lost
  }
}
