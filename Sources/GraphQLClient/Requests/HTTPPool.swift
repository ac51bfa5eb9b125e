internal import MartletHTTPWire
package import MartletRuntime
internal import MartletVocabulary

/// The HTTP/1.1 connections to one server: kept alive, used one call at a time, the most recently used first.
/// Confined to its loop.
package final class HTTPPool: CallCarrier {
  /// Bounds of a pool.
  package struct Limits: Sendable {
    /// Connections at a time; what browsers use per host.
    package var connections = 6
    /// Calls that wait for a connection.
    package var waiting = 1_000
    /// How long an unused connection is kept: shorter than servers keep theirs, so that a call seldom meets one that
    /// is just being closed.
    package var idle = Duration.seconds(15)
    /// Longest response.
    package var bodyBytes = 16 << 20

    package init() {}
  }

  private let endpoint: ConnectionTarget
  private let connector: any ByteConnector
  private let loop: any Loop
  private let limits: Limits
  private var links: [ObjectIdentifier: HTTPLink] = [:]
  private var free: [HTTPLink] = []
  private let waiting: WaitingCalls
  /// Connections opened since the start.
  package private(set) var opened = 0

  /// Starts the tasks that read files.
  let spawner: any Spawner
  /// The most bytes of a request with files that waited to be sent.
  package private(set) var bodyHighWater = 0

  package init(
    _ endpoint: ConnectionTarget, over connector: any ByteConnector, on loop: any Loop, spawner: any Spawner,
    limits: Limits = Limits()
  ) {
    self.endpoint = endpoint
    self.spawner = spawner
    self.connector = connector
    self.loop = loop
    self.limits = limits
    waiting = WaitingCalls(limits.waiting, on: loop)
  }

  package func start(
    _ call: HTTPCall, part: (([UInt8]) -> Void)?, moved: (() -> Void)?,
    completion: @escaping (Result<HTTPAnswer, HTTPLoss>) -> Void
  ) -> HTTPTicket {
    let ticket = HTTPTicket(call, part: part, moved: moved, completion)
    if !place(ticket) { waiting.append(ticket) }
    return ticket
  }

  private func place(_ ticket: HTTPTicket) -> Bool {
    if !ticket.call.needsFreshConnection, let link = free.popLast() {
      link.carry(ticket)
      return true
    }
    if links.count >= max(1, limits.connections), !free.isEmpty { free.removeFirst().drop() }
    guard links.count < max(1, limits.connections) else { return false }
    var http = HTTPLimits()
    http.bodyBytes = limits.bodyBytes
    let link = HTTPLink(self, limits: http)
    links[ObjectIdentifier(link)] = link
    opened += 1
    link.open(ticket, to: endpoint, on: loop, over: connector)
    return true
  }

  func isFree(_ link: HTTPLink) {
    free.append(link)
    link.idleTimer = loop.schedule(at: loop.now + limits.idle) { [weak link] in link?.drop() }
    serveWaiting()
  }

  func sent(highWater: Int) {
    bodyHighWater = max(bodyHighWater, highWater)
  }

  func gone(_ link: HTTPLink) {
    guard links.removeValue(forKey: ObjectIdentifier(link)) != nil else { return }
    free.removeAll { $0 === link }
    serveWaiting()
  }

  private func serveWaiting() {
    while let ticket = waiting.first {
      guard place(ticket) else { return }
      waiting.removeFirst()
    }
  }

  package func close() {
    for link in Array(links.values) { link.drop() }
  }
}
