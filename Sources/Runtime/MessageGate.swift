/// Lets a bounded number of clients' messages be taken up in one turn of a loop; the connections that have brought more
/// wait in line. One read brings hundreds of messages, each of which may cost as much as a query: taken up at once they
/// would keep all other connections waiting.
///
/// The first message that a connection brings in a turn is always taken up, unless the connection is in line: it has
/// waited for its turn in the system already. Those in line are served after what the turn has answered was sent, so
/// that no answer waits for them.
///
/// Confined to its loop.
package final class MessageGate {
  /// The turn in which a connection's last message was taken up.
  package struct Place {
    fileprivate var turn = 0

    package init() {}
  }

  private let loop: any Loop
  private let perTurn: Int
  private var left: Int
  private var taken = 0
  /// The most messages taken up in any turn; for tests.
  package private(set) var mostInOneTurn = 0
  /// The present turn by its number. Turns in which nothing is taken up are not counted.
  private var turn = 1
  private var line: [(() -> Void)?] = []
  private var head = 0
  private var awaitsTurnEnd = false
  /// Whether those in line are served at the end of this turn.
  private var servesAtEnd = false
  /// How often the end of this turn was put off, so that it comes after what is sent in it.
  private var timesPutOff = 0
  /// What is sent over TLS registers for the end of the turn at its end.
  private static let putOffs = 2
  /// Whether the line is being served: those in it have no message but those that they wait for.
  private var isServing = false

  /// - Parameter perTurn: Messages beyond the first of each connection, and those of connections in line.
  package init(on loop: any Loop, perTurn: Int) {
    self.loop = loop
    self.perTurn = max(1, perTurn)
    left = max(1, perTurn)
  }

  /// Whether a connection may take up its next message in this turn.
  package func mayTake(_ place: Place) -> Bool {
    if isServing { return left > 0 }
    return place.turn != turn || left > 0 && head == line.count
  }

  /// A connection takes up a message.
  package func take(_ place: inout Place) {
    if isServing || place.turn == turn { left -= 1 }
    place.turn = turn
    taken += 1
    mostInOneTurn = max(mostInOneTurn, taken)
    awaitTurnEnd()
  }

  /// Calls `work` in a later turn, after those that wait already. It counts as a message at least.
  package func wait(_ work: @escaping () -> Void) {
    line.append(work)
    awaitTurnEnd()
  }

  private func awaitTurnEnd() {
    guard !awaitsTurnEnd else { return }
    awaitsTurnEnd = true
    loop.atEndOfTurn(self)
  }

  private func serve() {
    isServing = true
    // Those that wait again have had their share.
    let end = line.count
    while left > 0, head < end, let work = line[head] {
      line[head] = nil
      head += 1
      let before = left
      work()
      if left == before { left -= 1 }
    }
    isServing = false
    if head == line.count {
      line.removeAll(keepingCapacity: line.capacity <= 1_024)
      head = 0
    } else {
      if head >= 1_024, head >= line.count / 2 {
        line.removeFirst(head)
        head = 0
      }
      awaitTurnEnd()
    }
  }
}

extension MessageGate: TurnEnd {
  package func turnEnded() {
    if servesAtEnd {
      guard timesPutOff == Self.putOffs else {
        timesPutOff += 1
        return loop.atEndOfTurn(self)
      }
      serve()
    }
    servesAtEnd = false
    timesPutOff = 0
    awaitsTurnEnd = false
    turn += 1
    left = perTurn
    taken = 0
    guard head < line.count else { return }
    let bound = LoopBound(self, on: loop)
    loop.execute { bound.value.begin() }
  }

  /// A turn begins that serves those in line.
  private func begin() {
    servesAtEnd = true
    awaitTurnEnd()
  }
}
