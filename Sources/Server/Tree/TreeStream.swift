internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeWire
internal import MartletVocabulary
internal import MartletWire

/// The event stream of one node: its value, then its changes. Confined to its loop.
final class TreeStream: LoopSession, TurnEnd {
  private let service: TreeService
  private let responder: HTTPResponder
  private let query: RESTQuery
  let serial: Int
  private let admitted: TreeAdmitted
  private let use: PeerUse
  private var listener: TreeListener?
  private var expiry: LoopTimer?
  private var timer: LoopTimer?
  /// Whether changes were dropped because the client did not read.
  private var isLagging = false

  static func start(
    _ service: TreeService, _ path: TreePath, _ query: RESTQuery, as admitted: TreeAdmitted, _ hold: CallerHold?,
    _ use: PeerUse, _ responder: HTTPResponder
  ) {
    let stream = TreeStream(service, query, as: admitted, use, responder)
    let listener = TreeListener(at: path, query.window, as: admitted.caller) { _, showing in stream.show(showing) }
    listener.hold = hold
    stream.listener = listener
    responder.endsWithPeer = true
    responder.follow(drained: { stream.drained() }, closed: { stream.close() })
    service.open(stream)
    stream.expiry = admitted.deadline.map { deadline in
      service.loop.schedule(at: deadline) { [weak stream] in stream?.withdraw("The credentials have expired.") }
    }
    service.add(listener)
  }

  private init(
    _ service: TreeService, _ query: RESTQuery, as admitted: TreeAdmitted, _ use: PeerUse, _ responder: HTTPResponder
  ) {
    self.use = use
    self.admitted = admitted
    serial = service.nextSerial()
    self.service = service
    self.query = query
    self.responder = responder
  }

  // MARK: The server

  var isSocket: Bool { false }
  var hasRunningOperations: Bool { false }

  func leave() {
    responder.finish()
    close()
  }

  func recheckSchema() -> Int { 0 }

  func recheckAccess() -> Int {
    guard !service.isGood(admitted.grant) else { return 0 }
    withdraw("The credentials were withdrawn.")
    return 1
  }

  private func withdraw(_ reason: String) {
    use.noteWithdrawal(admitted.caller.identity, reason: reason)
    responder.write(RESTEvent.authRevoked(reason).bytes)
    leave()
  }

  // MARK: Events

  private func show(_ showing: TreeShowing) {
    switch showing {
    case .value(let node):
      if responder.isWaiting {
        // Event streams are UTF-8 in any case; some clients take a text without a charset for another encoding.
        responder.start(
          200, HTTPHeaders([("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-cache")]))
        keepAlive()
      }
      responder.write(RESTEvent.put(.root, query.json(of: node)).bytes)
    // The protocol of event streams has no word for it.
    case .gap: break
    case .changes(let changes): write(changes.event { Self.event(changes.writes).bytes })
    // Streams ask for whole values.
    case .part: break
    case .resumed(let changes): write(Self.event(changes).bytes)
    case .ended(let refusal):
      use.note(refusal, admitted.caller.identity)
      if responder.isWaiting {
        TreeRequests.refuse(refusal, responder)
      } else {
        responder.write(RESTEvent.cancel.bytes)
        responder.finish()
      }
      close()
    }
  }

  /// Writes an event; one that the client does not read is dropped, and the value sent again later.
  private func write(_ event: [UInt8]) {
    if responder.pendingBytes <= service.limits.pendingBytes {
      responder.write(event)
    } else {
      isLagging = true
      service.loop.atEndOfTurn(self)
    }
  }

  /// What was written in this turn has been sent. A channel that was never full does not report that it is empty.
  func turnEnded() {
    if responder.pendingBytes == 0 { drained() }
  }

  /// One event for the changes of one transaction.
  private static func event(_ changes: [TreeWrite]) -> RESTEvent {
    if changes.count == 1, let change = changes.first { return .put(change.path, change.node.json(asArrays: true)) }
    var object = JSONObject()
    for change in changes {
      object[change.path.keys.map(\.text).joined(separator: "/")] = change.node.json(asArrays: true)
    }
    return .patch(.root, object)
  }

  private func drained() {
    guard isLagging, let listener else { return }
    isLagging = false
    listener.restart()
    service.refresh(listener)
  }

  private func keepAlive() {
    timer = service.loop.schedule(at: service.loop.now + service.limits.keepAlive) { [weak self] in
      guard let self, self.responder.isOpen else { return }
      self.responder.write(RESTEvent.keepAlive.bytes)
      self.keepAlive()
    }
  }

  private func close() {
    timer?.cancel()
    timer = nil
    expiry?.cancel()
    service.close(self)
    if let listener { service.remove(listener) }
    listener = nil
  }
}
