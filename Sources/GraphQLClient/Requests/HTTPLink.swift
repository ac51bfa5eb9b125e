import MartletHTTPWire
import MartletRuntime

/// One HTTP/1.1 connection of a pool, which carries one call at a time. Confined to its loop.
final class HTTPLink: ByteChannelHandler {
  private weak var pool: HTTPPool?
  private var machine: HTTPClientMachine
  private var channel: (any ByteChannel)?
  private var attempt: ConnectAttempt?
  private var ticket: HTTPTicket?
  private var answer: AnswerReader
  private var pump: BodyPump?
  private let limits: HTTPLimits
  private var carried = 0
  /// Closes it when it has been idle for long.
  var idleTimer: LoopTimer?

  init(_ pool: HTTPPool, limits: HTTPLimits) {
    self.pool = pool
    self.limits = limits
    machine = HTTPClientMachine(limits: limits)
    answer = AnswerReader(bodyBytes: limits.bodyBytes)
  }

  /// Connects, then carries the call.
  func open(
    _ ticket: HTTPTicket, to endpoint: ConnectionTarget, on loop: any Loop, over connector: any ByteConnector
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
    guard let channel else { return }
    let request = ticket.call.body
    if let whole = request.whole {
      let body = whole.isEmpty && ticket.call.head.method == "GET" ? nil : whole
      channel.write { machine.send(ticket.call.head, body: body, to: &$0.bytes) }
    } else {
      channel.write { machine.send(ticket.call.head, bodyLength: request.length, to: &$0.bytes) }
      guard let spawner = pool?.spawner else { return }
      let pump = BodyPump(
        request, to: channel, spawner: spawner, moved: { [weak ticket] in ticket?.moved?() },
        failed: { [weak self] in self?.lose($0) })
      self.pump = pump
      pump.run()
    }
  }

  /// Lets go of the connection and of what it carries.
  func drop() {
    idleTimer?.cancel()
    attempt?.cancel()
    attempt = nil
    ticket = nil
    endPump()
    let open = channel
    channel = nil
    open?.abort()
    pool?.gone(self)
  }

  private func endPump() {
    if let pump { pool?.sent(highWater: pump.highWater) }
    pump?.stop()
    pump = nil
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
      case .response(let head): begin(head)
      case .body(let piece): take(piece)
      case .responseEnded(trailers: _, let isReusable): answered(isReusable: isReusable)
      case .upgraded: lose(.connection("the server changed the protocol unasked"))
      case .failed(let failure): lose(failure.rule == .truncated ? .connection("\(failure)") : .answer(failure))
      }
    }
  }

  private func begin(_ head: HTTPResponseHead) {
    do throws(MultipartFailure) {
      try answer.begin(head, takesParts: ticket?.call.takesParts == true)
    } catch {
      lose(.parts(error))
    }
  }

  private func take(_ piece: [UInt8]) {
    do throws(MultipartFailure) {
      try answer.take(piece) { ticket?.part?($0) }
    } catch {
      lose(.parts(error))
    }
  }

  private func answered(isReusable: Bool) {
    guard let answered = ticket else { return }
    let whole: HTTPAnswer
    do throws(MultipartFailure) {
      guard let ended = try answer.end() else { return }
      whole = ended
    } catch {
      return lose(.parts(error))
    }
    // A server that answered before it had the whole request has no use for the rest.
    let isWhole = pump?.isDone ?? true
    endPump()
    ticket = nil
    answer = AnswerReader(bodyBytes: limits.bodyBytes)
    if isReusable, isWhole { pool?.isFree(self) } else { drop() }
    answered.end(.success(whole))
  }

  func drained() {
    pump?.drained()
  }

  func closed(_ reason: ChannelCloseReason) {
    guard channel != nil else { return }
    var events: [HTTPClientEvent] = []
    machine.inputEnded(events: &events)
    if case .failure(let text) = reason, ticket != nil { return lose(.connection(text)) }
    follow(events)
    if ticket != nil { lose(.connection("the connection was closed")) } else if channel != nil { drop() }
  }
}
