import MartletRuntime

/// The calls that wait for a connection, in order. Confined to its loop.
final class WaitingCalls {
  private let loop: any Loop
  private let bound: Int
  private var tickets: [HTTPTicket] = []

  /// - Parameter bound: How many calls may wait.
  init(_ bound: Int, on loop: any Loop) {
    self.bound = bound
    self.loop = loop
  }

  var first: HTTPTicket? { tickets.first }

  /// Adds a call. One more than may wait ends with `queueIsFull`, after this has returned.
  func append(_ ticket: HTTPTicket) {
    guard tickets.count < bound else {
      loop.schedule(at: loop.now) {
        ticket.end(.failure(HTTPLoss(cause: .queueIsFull, stage: .waiting, wasKept: false)))
      }
      return
    }
    tickets.append(ticket)
    ticket.abandon = { [weak self, weak ticket] in self?.tickets.removeAll { $0 === ticket } }
  }

  func removeFirst() { tickets.removeFirst() }

  func removeAll() { tickets = [] }
}
