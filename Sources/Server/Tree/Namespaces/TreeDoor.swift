internal import MartletSockets
internal import MartletTreeWire
internal import MartletWire

/// A socket of the tree's protocol until its tree is open. Confined to its loop.
///
/// The server speaks first, so that little can arrive meanwhile; what does waits.
final class TreeDoor: SocketEndpoint {
  /// Messages that a client may send before it was greeted: a keep-alive, and a first request of a hasty one.
  private static let mostWaiting = 16

  private let find: (@escaping (Result<TreeService, TreeRefusal>) -> Void) -> Void
  private let session: (TreeService) -> TreeSession
  private var inner: TreeSession?
  private var socket: WebSocketChannel?
  private var waiting: [[UInt8]] = []

  init(
    find: @escaping (@escaping (Result<TreeService, TreeRefusal>) -> Void) -> Void,
    session: @escaping (TreeService) -> TreeSession
  ) {
    self.find = find
    self.session = session
  }

  func opened(_ socket: WebSocketChannel) {
    self.socket = socket
    find { [weak self] result in self?.found(result) }
  }

  private func found(_ result: Result<TreeService, TreeRefusal>) {
    guard let socket else { return }
    switch result {
    case .success(let service):
      let session = session(service)
      inner = session
      session.opened(socket)
      let early = waiting
      waiting = []
      for text in early { session.received(text: text) }
    case .failure(let refusal):
      // Clients of this protocol come back after any other end.
      var machine = TreeServerMachine()
      let answer = refusal.answer
      for case .send(let frames) in machine.shutDown("\(answer.status): \(answer.data.string ?? "")") {
        for frame in frames { socket.send(text: Array(frame.utf8)) }
      }
      socket.close(.policyViolation, reason: answer.status)
    }
  }

  func received(text: [UInt8]) {
    if let inner { return inner.received(text: text) }
    guard waiting.count < Self.mostWaiting else {
      socket?.close(.policyViolation, reason: "too many messages before the greeting")
      return
    }
    waiting.append(text)
  }

  func drained() { inner?.drained() }

  func closed(_ closure: WebSocketClosure) {
    socket = nil
    inner?.closed(closure)
  }
}
