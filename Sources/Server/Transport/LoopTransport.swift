internal import MartletRuntime
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
  private var date: (text: String, end: Instant)?

  init(
    on loop: any Loop, _ limits: ServerLimits, _ admission: Admission, _ tally: LoopTally, _ log: Log,
    _ calendar: Calendar, trustedProxies: [AddressRange] = [], audit: Audit = Audit(nil)
  ) {
    self.audit = audit
    self.trustedProxies = trustedProxies
    self.loop = loop
    self.limits = limits
    self.admission = admission
    self.tally = tally
    self.log = log
    self.calendar = calendar
  }

  /// The number of the next connection, or of what runs on one.
  func nextSerial() -> Int {
    lastSerial += 1
    return lastSerial
  }

  /// The value of the field `Date`. Answers come in thousands a second; it is made once.
  func httpDate() -> String {
    if let date, loop.now < date.end { return date.text }
    let text = calendar.httpDate()
    date = (text, loop.now + .seconds(1))
    return text
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
}
