import MartletGraphQLClientWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// The open operations of one connection, by the id they have on the wire and by the key of their caller.
struct SocketOperationTable {
  private var operations: [OperationID: SocketOperation] = [:]
  private var ids: [ObjectIdentifier: OperationID] = [:]
  private var lastID = 0
  /// Callers whose buffers are full, so that the connection does not read.
  private var holders: Set<ObjectIdentifier> = []

  var count: Int { operations.count }
  var isEmpty: Bool { operations.isEmpty }
  /// Whether a consumer keeps the connection from reading.
  var isHeld: Bool { !holders.isEmpty }

  subscript(id: OperationID) -> SocketOperation? {
    get { operations[id] }
    set { operations[id] = newValue }
  }

  func id(of key: ObjectIdentifier) -> OperationID? { ids[key] }

  /// In the order they were added.
  var inOrder: [OperationID] {
    operations.keys.sorted { Int($0.text) ?? 0 < Int($1.text) ?? 0 }
  }

  mutating func add(_ operation: SocketOperation) -> OperationID? {
    lastID += 1
    guard let id = OperationID(String(lastID)) else { return nil }
    operations[id] = operation
    ids[operation.key] = id
    return id
  }

  mutating func remove(_ id: OperationID) -> SocketOperation? {
    guard let operation = operations.removeValue(forKey: id) else { return nil }
    operation.timer?.cancel()
    ids[operation.key] = nil
    return operation
  }

  /// The server says that a subscription is live, or shows it.
  mutating func becameLive(_ id: OperationID, _ mark: SubscriptionMark?) {
    operations[id]?.becameLive()
    operations[id]?.stream?.move(to: .active, isConfirmed: true)
    if let mark { operations[id]?.stream?.deliver(mark) }
  }

  /// A ping with a position says that everything up to it has been sent, of subscriptions without events as well.
  func passed(
    _ payload: JSONObject?, _ givesCursors: Bool, _ position: (OperationID) -> SubscriptionPosition?
  ) {
    guard givesCursors, let cursor = payload?["martlet"]?["cursor"]?.string.flatMap({ Cursor($0) }) else { return }
    for id in inOrder {
      guard let position = position(id), position.cursor == cursor else { continue }
      operations[id]?.stream?.deliver(SubscriptionMark(cursor: cursor, view: position.view))
    }
  }

  /// Hands an event to the operation's caller. True when the connection has to stop reading.
  mutating func deliver(_ event: SubscriptionEvent, to id: OperationID) -> Bool {
    switch operations[id]?.consumer {
    case .subscription(let core):
      guard core.deliver(event) else { return false }
      holders.insert(ObjectIdentifier(core))
      return true
    case .response(let response, _):
      response.deliver(OperationPayload(bytes: event.payload))
      return false
    case nil: return false
    }
  }

  /// A caller has room again, or has left. True when the connection may read on.
  mutating func release(_ key: ObjectIdentifier) -> Bool {
    holders.remove(key) != nil && holders.isEmpty
  }

  mutating func releaseAll() { holders = [] }

  /// The connection is lost. Subscriptions that had been live say so; those that were never sent stay pending.
  func reconnect(because reason: String, attempt: Int) {
    let life = SubscriptionLife.interrupted(reason: reason, attempt: max(1, attempt))
    for core in inOrder.compactMap({ operations[$0]?.stream }) {
      if case .pending = core.state { core.tell(life) } else { core.move(to: .reconnecting, telling: life) }
    }
  }

  func pause() {
    for id in inOrder { operations[id]?.stream?.move(to: .paused) }
  }
}
