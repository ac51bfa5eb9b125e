package import MartletRuntime
internal import MartletSockets
internal import MartletVocabulary
internal import MartletWire

/// One loop's share of the transport: its connections and what they have in common.
///
/// Confined to its loop.
package final class LoopTransport {
  let loop: any Loop
  let limits: ServerLimits
  let admission: Admission
  let tally: LoopTally
  let log: Log
  private let calendar: Calendar
  /// Whose word about their clients is believed.
  let trustedProxies: [AddressRange]
  let audit: Audit
  /// What callers may use, at every door.
  let callers: CallerMeters
  /// Bounds the requests and messages that are taken up in one turn.
  package let gate: MessageGate
  /// Connections that are not read for a while, because their callers have used what they may use.
  let pauses: ReadingPauses
  /// The endpoints; set once, before the first connection.
  var table = EndpointTable([])
  var connections: [ObjectIdentifier: HTTPConnection] = [:]
  /// Set when the server is being stopped: every response is the last of its connection.
  package var isDraining = false
  /// Called while the server is being stopped, when something ended: an operation, a response, a connection.
  var onProgress: (() -> Void)?
  /// Compressors, lent out while a message is in work.
  let zlib = ZlibPool()
  /// Numbers connections and what runs on them, so that what is done to all of them is done in one order, the same in
  /// every run.
  private var lastSerial = 0
  /// The present second as HTTP's `Date` field has it, and when it is over.
  private var date: (line: [UInt8], end: Instant)?
  /// Room for what the requests of one connection bring, lent out while they are handled.
  private var events: [HTTPServerEvent] = []

  init(
    on loop: any Loop, _ limits: ServerLimits, _ admission: Admission, _ tally: LoopTally, _ log: Log,
    _ calendar: Calendar, callers: CallerMeters, trustedProxies: [AddressRange] = [], audit: Audit = Audit(nil)
  ) {
    self.callers = callers
    self.audit = audit
    self.trustedProxies = trustedProxies
    self.loop = loop
    self.limits = limits
    self.admission = admission
    self.tally = tally
    self.log = log
    self.calendar = calendar
    gate = MessageGate(on: loop, perTurn: limits.http.messagesPerTurn)
    pauses = ReadingPauses(on: loop, gate)
  }

  /// The number of the next connection, or of what runs on one.
  func nextSerial() -> Int {
    lastSerial += 1
    return lastSerial
  }

  /// The field `Date` as it is sent. Answers come in thousands a second; it is made once.
  func dateLine() -> [UInt8] {
    if let date, loop.now < date.end { return date.line }
    let line = Array("Date: \(calendar.httpDate())\r\n".utf8)
    date = (line, loop.now + .seconds(1))
    return line
  }

  /// An empty list with the room that an earlier one had. `giveBack` is called with it when it is no longer used.
  func takeEvents() -> [HTTPServerEvent] {
    let taken = events
    events = []
    return taken
  }

  /// Keeps the room of a list for the next connection, unless it is larger than ordinary requests need.
  func giveBack(_ used: consuming [HTTPServerEvent]) {
    guard used.capacity <= 16 else { return }
    used.removeAll(keepingCapacity: true)
    events = used
  }

  /// Oldest first; a copy, because ending one takes it out.
  var connectionsInOrder: [HTTPConnection] {
    connections.values.sorted { $0.serial < $1.serial }
  }

  /// Bytes written to connections that their peers have not taken.
  var pendingBytes: Int { connections.values.reduce(0) { $0 + $1.channel.pendingBytes } }

  // MARK: Faults

  /// Counts a rule or limit of its protocol that a peer broke, and logs it unless it was logged of this peer before.
  func noteViolation(_ reason: String, _ metadata: [(key: Log.Key, value: String)], isLogged: Bool) {
    tally.add(.protocolErrors)
    guard !isLogged else { return }
    // Reasons may quote a peer's words, which may be long.
    let short = String(decoding: truncatedUTF8(reason, to: 200), as: UTF8.self)
    log.write(.warning, "A client broke a rule of its protocol.", metadata + [(.reason, short)])
  }

  /// Counts credentials that were not accepted, for a request, a connection or a subscription: as above.
  /// `reason` is a stable name, without anything of the credentials.
  func noteRefusal(_ message: StaticString, reason: String?, isLogged: Bool, over peer: Peer) {
    audit.refused(peer, reason: reason)
    tally.add(.credentialsRefused)
    tally.addRefusal(reason ?? "program")
    if !isLogged { log.write(.warning, message, reason.map { [(.reason, $0)] } ?? []) }
  }

  // MARK: Callers

  /// What the client of a connection uses of what its caller may use.
  func use(of peer: Peer) -> PeerUse {
    PeerUse(loop: loop, pauses: pauses, callers: callers, tally: tally, audit: audit, peer: peer)
  }

  /// Spends what a request uses of what its caller may use; the answer where it may not.
  func spend(on request: HTTPRequest) -> ImmediateAnswer? {
    do {
      try use(of: request.peer).spend(bytes: request.sentBytes, by: request.caller.identity)
      return nil
    } catch {
      return .limited(error)
    }
  }
}
