import MartletRuntime
import MartletWireProtocols

/// One HTTP/1.1 connection of a pool, which carries one call at a time. Confined to its loop.
final class HTTPLink: ByteChannelHandler {
  private weak var pool: HTTPPool?
  private var machine: HTTPClientMachine
  private var channel: (any ByteChannel)?
  private var attempt: ConnectAttempt?
  private var ticket: HTTPTicket?
  private var head: HTTPResponseHead?
  private var body: [UInt8] = []
  private var carried = 0
  /// Closes it when it has been idle for long.
  var idleTimer: LoopTimer?

  init(_ pool: HTTPPool, limits: HTTPLimits) {
    self.pool = pool
    machine = HTTPClientMachine(limits: limits)
  }

  /// Connects, then carries the call.
  func open(
    _ ticket: HTTPTicket, to endpoint: Endpoint, on loop: any Loop, over connector: any ByteConnector
  ) {
    self.ticket = ticket
    ticket.abandon = { [weak self] in self?.drop() }
    attempt = connector.connect(to: endpoint, on: loop, handler: self) { [self] result in
      attempt = nil
      switch result {
      case .success(let channel):
        self.channel = channel
        carry(ticket)
      case .failure(let error): lose(.connection(error.description))
      }
    }
  }

  /// Sends the call. Only on an idle connection.
  func carry(_ ticket: HTTPTicket) {
    idleTimer?.cancel()
    idleTimer = nil
    self.ticket = ticket
    ticket.abandon = { [weak self] in self?.drop() }
    ticket.stage = .sent
    carried += 1
    channel?.write { machine.send(ticket.call.head, body: ticket.call.body, to: &$0.bytes) }
  }

  /// Lets go of the connection and of what it carries.
  func drop() {
    idleTimer?.cancel()
    attempt?.cancel()
    attempt = nil
    ticket = nil
    let open = channel
    channel = nil
    open?.abort()
    pool?.gone(self)
  }

  private func lose(_ cause: HTTPLoss.Cause) {
    let lost = ticket
    drop()
    lost?.end(.failure(HTTPLoss(cause: cause, stage: lost?.stage ?? .waiting, wasKept: carried > 1)))
  }

  func received(_ bytes: borrowing RawSpan) {
    guard channel != nil else { return }
    ticket?.stage = .answering
    var events: [HTTPClientEvent] = []
    machine.receive(bytes, events: &events)
    follow(events)
  }

  private func follow(_ events: [HTTPClientEvent]) {
    for event in events {
      switch event {
      case .informational: break
      case .response(let head): self.head = head
      case .body(let piece): body += piece
      case .responseEnded(trailers: _, let isReusable): answered(isReusable: isReusable)
      case .upgraded: lose(.connection("the server changed the protocol unasked"))
      case .failed(let failure): lose(failure.rule == .truncated ? .connection("\(failure)") : .answer(failure))
      }
    }
  }

  private func answered(isReusable: Bool) {
    guard let answered = ticket, let head else { return }
    let answer = HTTPAnswer(head: head, body: body)
    ticket = nil
    self.head = nil
    body = []
    if isReusable { pool?.isFree(self) } else { drop() }
    answered.end(.success(answer))
  }

  func drained() {}

  func closed(_ reason: ChannelCloseReason) {
    guard channel != nil else { return }
    var events: [HTTPClientEvent] = []
    machine.inputEnded(events: &events)
    if case .failure(let text) = reason, ticket != nil { return lose(.connection(text)) }
    follow(events)
    if ticket != nil { lose(.connection("the connection was closed")) } else if channel != nil { drop() }
  }
}
