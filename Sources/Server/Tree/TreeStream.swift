internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletTreeWire
internal import MartletVocabulary
internal import MartletWire

/// The event stream of one node: its value, then its changes. Confined to its loop.
final class TreeStream {
  private let service: TreeService
  private let responder: HTTPResponder
  private let query: RESTQuery
  private var listener: TreeListener?
  private var timer: LoopTimer?
  /// Whether changes were dropped because the client did not read.
  private var isLagging = false

  static func start(
    _ service: TreeService, _ path: TreePath, _ query: RESTQuery, as caller: TreeCaller, _ responder: HTTPResponder
  ) {
    let stream = TreeStream(service, query, responder)
    let listener = TreeListener(at: path, query.window, as: caller) { _, showing in stream.show(showing) }
    stream.listener = listener
    responder.endsWithPeer = true
    responder.follow(drained: { stream.drained() }, closed: { stream.close() })
    service.add(listener)
  }

  private init(_ service: TreeService, _ query: RESTQuery, _ responder: HTTPResponder) {
    self.service = service
    self.query = query
    self.responder = responder
  }

  private func show(_ showing: TreeShowing) {
    switch showing {
    case .value(let node):
      if responder.isWaiting {
        responder.start(
          200, HTTPHeaders([("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache")]))
        keepAlive()
      }
      responder.write(RESTEvent.put(.root, query.json(of: node)).bytes)
    case .changes(let changes):
      guard responder.pendingBytes <= service.limits.pendingBytes else {
        isLagging = true
        return
      }
      responder.write(Self.event(changes).bytes)
    case .ended(let refusal):
      if responder.isWaiting {
        TreeRequests.refuse(refusal, responder)
      } else {
        responder.write(RESTEvent.cancel.bytes)
        responder.finish()
      }
      close()
    }
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
    if let listener { service.remove(listener) }
    listener = nil
  }
}
