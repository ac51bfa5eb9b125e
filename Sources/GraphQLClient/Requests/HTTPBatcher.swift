import MartletHTTPWire
import MartletJSON
import MartletRuntime
import MartletVocabulary

/// Gathers queries that go to the server with the same header fields, and sends them as one request. Each has its part
/// of the answer as if it had been alone. Confined to its loop.
final class HTTPBatcher {
  /// One request with several queries, waiting or on its way.
  private final class Batch {
    let head: HTTPRequestHead
    var members: [(ticket: HTTPTicket, request: [UInt8])] = []
    var timer: LoopTimer?
    var sent: HTTPTicket?

    init(_ head: HTTPRequestHead) { self.head = head }
  }

  private let policy: BatchPolicy
  private let pool: any CallCarrier
  private let loop: any Loop
  private var waiting: [Batch] = []
  /// The server takes no lists.
  private var isOff = false

  init(_ policy: BatchPolicy, _ pool: any CallCarrier, on loop: any Loop) {
    self.policy = policy
    self.pool = pool
    self.loop = loop
  }

  /// Sends a query as soon as it may go. `completion` as with `CallCarrier.start`.
  ///
  /// - Parameter request: the query as JSON, also the body of `call`.
  func start(
    _ request: [UInt8], _ call: HTTPCall, completion: @escaping (Result<HTTPAnswer, HTTPLoss>) -> Void
  ) -> HTTPTicket {
    guard !isOff, policy.operations > 1 else { return pool.start(call, completion: completion) }
    let ticket = HTTPTicket(call, part: nil, moved: nil, completion)
    let batch = waiting.first { $0.head == call.head } ?? begin(call.head)
    batch.members.append((ticket, request))
    ticket.abandon = { [weak self, weak batch, weak ticket] in
      guard let batch else { return }
      batch.members.removeAll { $0.ticket === ticket }
      if batch.members.isEmpty { self?.drop(batch) }
    }
    if batch.members.count >= policy.operations { send(batch) }
    return ticket
  }

  private func begin(_ head: HTTPRequestHead) -> Batch {
    let batch = Batch(head)
    waiting.append(batch)
    batch.timer = loop.schedule(at: loop.now + policy.wait) { [weak self, weak batch] in
      if let batch { self?.send(batch) }
    }
    return batch
  }

  /// Its caller has gone.
  private func drop(_ batch: Batch) {
    batch.timer?.cancel()
    batch.sent?.cancel()
    waiting.removeAll { $0 === batch }
  }

  private func send(_ batch: Batch) {
    batch.timer?.cancel()
    waiting.removeAll { $0 === batch }
    // Those who leave from now on leave their places.
    let tickets = batch.members.map(\.ticket)
    guard tickets.count > 1 else { return sendSingly(tickets) }
    var writer = JSONWriter()
    writer.beginArray()
    for member in batch.members { writer.raw(member.request) }
    writer.endArray()
    // The batch and its members live as long as the request.
    batch.sent = pool.start(HTTPCall(head: batch.head, body: writer.bytes)) { [self] result in
      withExtendedLifetime(batch) { answered(tickets, result) }
    }
  }

  private func sendSingly(_ tickets: [HTTPTicket]) {
    for ticket in tickets where !ticket.isOver {
      let own = pool.start(ticket.call) { ticket.end($0) }
      ticket.abandon = { own.cancel() }
    }
  }

  /// - Parameter tickets: in the order they were sent in; a caller that has left is not called.
  private func answered(_ tickets: [HTTPTicket], _ result: Result<HTTPAnswer, HTTPLoss>) {
    guard case .success(let answer) = result else {
      for ticket in tickets { ticket.end(result) }
      return
    }
    let status = answer.head.status
    if (200..<300).contains(status), let parts = Self.parts(answer.body, tickets.count) {
      for (ticket, part) in zip(tickets, parts) {
        ticket.end(.success(HTTPAnswer(head: answer.head, body: part, parts: nil)))
      }
    } else if (200..<300).contains(status) || [400, 404, 405, 406, 413, 415, 422, 501].contains(status) {
      // Said of the list, not of any of its queries.
      isOff = true
      sendSingly(tickets)
    } else {
      for ticket in tickets { ticket.end(result) }
    }
  }

  /// The elements of a list of so many.
  private static func parts(_ body: [UInt8], _ count: Int) -> [[UInt8]]? {
    var limits = JSONLimits()
    limits.bytes = body.count
    guard let root = try? JSONTape(body, limits: limits).root, root.kind == .array, root.count == count else {
      return nil
    }
    var parts: [[UInt8]] = []
    root.forEach { parts.append([UInt8]($0.rawBytes)) }
    return parts
  }
}
