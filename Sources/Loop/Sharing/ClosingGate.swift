/// Something whose descriptor waits to be closed.
package protocol ClosingConnection: AnyObject {
  /// Gives the descriptor back and notifies the owner. Called once, and not while another call to the connection runs.
  func closes()
}

/// Lets a bounded number of connections be closed in one turn; the others wait in order. To close one and to end what
/// ran on it costs tens of microseconds, so that thousands of clients that are lost at once would hold up all others.
///
/// Each connection that begins in a turn lets one more be closed in it, so that clients with a connection for each
/// request do not make the number of those that wait grow.
///
/// What waits is no longer watched, so that a turn does no work for it. Confined to its loop.
package final class ClosingGate {
  private let perTurn: Int
  private var left: Int
  private var closed = 0
  private var waiting: [(any ClosingConnection)?] = []
  private var head = 0
  /// The most connections closed in any turn; for tests.
  package private(set) var mostInOneTurn = 0

  init(perTurn: Int) {
    self.perTurn = max(1, perTurn)
    left = max(1, perTurn)
  }

  /// Connections that wait.
  package var count: Int { waiting.count - head }

  /// Whether `connection` may be closed now. If not, its `closes` is called in a later turn.
  package func admit(_ connection: any ClosingConnection) -> Bool {
    guard left > 0, count == 0 else {
      waiting.append(connection)
      return false
    }
    take()
    return true
  }

  /// A turn begins.
  func begin() {
    left = perTurn
    closed = 0
  }

  /// A connection begins.
  package func opened() {
    left += 1
  }

  /// Closes as many as this turn still may.
  func closeSome() {
    while left > 0, let next = popFirst() {
      take()
      next.closes()
    }
  }

  /// Closes all that wait, also those that begin to meanwhile: the loop stops.
  func closeAll() {
    while let next = popFirst() { next.closes() }
  }

  private func take() {
    left -= 1
    closed += 1
    mostInOneTurn = max(mostInOneTurn, closed)
  }

  private func popFirst() -> (any ClosingConnection)? {
    guard head < waiting.count else { return nil }
    let next = waiting[head]
    waiting[head] = nil
    head += 1
    if head == waiting.count {
      waiting = []
      head = 0
    }
    return next
  }
}
