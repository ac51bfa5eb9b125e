import MartletVocabulary

/// What every dialect's server keeps of a connection: how far it has come, and its operations. What is said on the way
/// is the dialect's own.
struct ServerSession: Sendable {
  private(set) var phase: ServerPhase
  private var table = ServerOperationTable()

  /// - Parameter deadline: when the client must have sent `connection_init`.
  init(until deadline: Instant) {
    phase = .waitingForInit(deadline: deadline)
  }

  var isOpen: Bool { phase == .open }
  var operationCount: Int { table.count }

  func number(of id: OperationID) -> Int? { table.number(of: id) }
  func id(of number: Int) -> OperationID? { table.id(of: number) }

  /// `connection_init` came. False unless it was awaited.
  mutating func initialise() -> Bool {
    guard case .waitingForInit = phase else { return false }
    phase = .authenticating
    return true
  }

  /// Accepts the client. False unless an acknowledgement was outstanding.
  mutating func open() -> Bool {
    guard phase == .authenticating else { return false }
    phase = .open
    return true
  }

  /// Gives an operation its number; its id must be free. Before anything else is done for it: another under the same id
  /// may follow at once.
  mutating func reserve(_ id: OperationID) -> Int { table.reserve(id) }

  /// This side ends an operation: its id, when it had not ended.
  mutating func finish(_ number: Int) -> OperationID? { table.remove(number) }

  /// The client ends an operation: its number. Nil for an id that is unknown, because it crossed our own end.
  mutating func stop(_ id: OperationID, _ actions: inout [SubscriptionServerAction]) -> Int? {
    guard let number = table.number(of: id) else { return nil }
    _ = table.remove(number)
    actions.append(.stop(number: number))
    return number
  }

  /// The connection is gone, by whatever cause.
  mutating func end(_ actions: inout [SubscriptionServerAction]) {
    phase = .closed
    for number in table.removeAll() { actions.append(.stop(number: number)) }
  }
}
